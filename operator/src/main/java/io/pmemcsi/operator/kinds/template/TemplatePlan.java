package io.pmemcsi.operator.kinds.template;

import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.controller.Plan;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What was decided about a CSIDriverDeployment.
 *
 * @param triggers resources that lose a conflict with this one and do not know it yet
 * @param waitsFor resources that have a name which this one needs
 * @param missingApi what the cluster lacks, so that pods may not get ready, and what to do
 */
record TemplatePlan(
    Action action, List<ResourceID> triggers, Set<ResourceID> waitsFor, Optional<String> missingApi)
    implements Plan<CSIDriverDeployment> {

  TemplatePlan {
    triggers = List.copyOf(triggers);
    waitsFor = Set.copyOf(waitsFor);
  }

  static TemplatePlan of(Action action) {
    return new TemplatePlan(action, List.of(), Set.of(), Optional.empty());
  }
}
