package io.pmemcsi.operator.generic;

import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceAction;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceEvent;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import io.pmemcsi.api.generic.CSIDriverDeployment;

/** Wakes the reconciler where no watch does. */
final class WakeUps extends SimpleInboundEventSource<CSIDriverDeployment> {

  WakeUps() {
    super("wake-ups");
  }

  /** As if the watch had shown it just now: any other event is dropped for what is not known. */
  void appeared(CSIDriverDeployment resource) {
    if (isRunning()) {
      getEventHandler()
          .handleEvent(
              new ResourceEvent(ResourceAction.ADDED, ResourceID.fromResource(resource), resource));
    }
  }
}
