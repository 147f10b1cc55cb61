package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.api.template.TemplateSettings;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.facts.ClusterFacts;
import java.util.ArrayList;

/** Every object of a driver, from its settings, the configuration and the facts. */
public final class TemplateDesiredState {

  private TemplateDesiredState() {}

  /**
   * Computes the objects; nothing is looked up.
   *
   * @param namespace of the resource
   * @param name of the resource
   * @throws IllegalArgumentException if a template uses names that the operator needs itself
   */
  public static DesiredState of(
      String namespace,
      String name,
      TemplateSettings settings,
      OperatorConfig config,
      ClusterFacts facts) {
    var driver = new TemplateDriver(namespace, name, settings, config, facts);
    var controller = new ControllerWorkload(driver);
    var nodes = new NodeWorkload(driver);
    var clashes = new ArrayList<>(nodes.clashes());
    clashes.addAll(controller.clashes());
    clashes.addAll(LivenessProbe.mistakes(settings));
    ExclusiveNames.of(settings.spec(), config).sharedByTemplates().stream()
        .map(
            port ->
                ("spec.driverControllerTemplate: %s is the one of spec.driverPerNodeTemplate, so"
                        + " that both pods cannot run on one node: use another one")
                    .formatted(port.describe()))
        .forEach(clashes::add);
    if (!clashes.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", clashes));
    }
    var wanted = new ArrayList<HasMetadata>();
    wanted.add(new DriverObject(driver).csiDriver());
    wanted.addAll(new Accounts(driver, nodes.ownAccount(), controller.ownAccount()).objects());
    wanted.addAll(new StorageClasses(driver).objects());
    controller.deployment().ifPresent(wanted::add);
    wanted.add(nodes.daemonSet());
    return DesiredState.of(wanted);
  }
}
