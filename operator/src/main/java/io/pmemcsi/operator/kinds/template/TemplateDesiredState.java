package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.objects.StorageClasses;
import java.util.ArrayList;

/** Every object of a driver. */
final class TemplateDesiredState {

  private TemplateDesiredState() {}

  /**
   * Computes the objects, in the order in which to write them.
   *
   * @throws IllegalArgumentException if a template uses names that the operator needs itself
   */
  static DesiredState of(TemplateDriver driver) {
    var controller = new ControllerWorkload(driver);
    var nodes = new NodeWorkload(driver);
    var conflicts = new ArrayList<>(nodes.conflicts());
    conflicts.addAll(controller.conflicts());
    conflicts.addAll(LivenessProbe.mistakes(driver.settings()));
    ExclusiveNames.of(driver.settings().spec(), driver.config()).sharedByTemplates().stream()
        .map(
            port ->
                ("spec.driverControllerTemplate: %s is the one of spec.driverPerNodeTemplate, so"
                        + " that both pods cannot run on one node: use another one")
                    .formatted(port.describe()))
        .forEach(conflicts::add);
    if (!conflicts.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", conflicts));
    }
    var desired = new ArrayList<HasMetadata>();
    desired.add(new DriverObject(driver).csiDriver());
    desired.addAll(new Accounts(driver, nodes.ownAccount(), controller.ownAccount()).objects());
    desired.addAll(
        new StorageClasses(driver.driverName(), driver.labels())
            .objects(driver.settings().storageClassTemplates()));
    controller.deployment().ifPresent(desired::add);
    desired.add(nodes.daemonSet());
    return DesiredState.of(desired);
  }
}
