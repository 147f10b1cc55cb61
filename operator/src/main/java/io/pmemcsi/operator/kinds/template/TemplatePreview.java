package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.TemplateSettings;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.deletion.DeletionDecision;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.usage.ApiUsage;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the operator would make of a resource on the cluster that is there.
 *
 * @param config that of the operator in the cluster
 */
public record TemplatePreview(
    KubernetesClient client, ClusterFacts facts, OperatorConfig config, Clock clock) {

  /** Of which kinds it may own objects. */
  public static List<Class<? extends HasMetadata>> kinds() {
    return TemplateEventSources.KINDS;
  }

  public DesiredState blueprint(CSIDriverDeployment resource) {
    return TemplateDesiredState.of(
        resource.getMetadata().getNamespace(),
        resource.getMetadata().getName(),
        TemplateSettings.of(resource),
        config,
        facts);
  }

  /** Whether the operator would look at the resource and leave its objects as they are. */
  public static boolean isLeftAlone(CSIDriverDeployment resource) {
    return TemplateReconciler.isUnmanaged(resource);
  }

  /**
   * What keeps the operator from making what a resource wants.
   *
   * @param reasons none if nothing does
   * @param restored what it would make all the same where it is gone: the CSIDriver of the former
   *     driver, which volumes need
   */
  public record Hindrance(List<String> reasons, Optional<HasMetadata> restored) {

    public Hindrance {
      reasons = List.copyOf(reasons);
    }
  }

  /**
   * Looks for what is in the way.
   *
   * @param resource with the uid and the age of the one in the cluster, if that is there
   */
  public Hindrance hindrance(CSIDriverDeployment resource) {
    List<String> conflicts = conflicts(resource);
    var guard =
        new DeletionGuard(
            new ApiUsage(client, clock), CSIDriverDeployment.FORCE_DELETION_ANNOTATION);
    var reasons = new ArrayList<>(conflicts);
    var needed = new ArrayList<String>();
    for (String former : formerDrivers(resource)) {
      if (guard.decide(resource, resource.getSpec().deletionPolicy(), former)
          instanceof DeletionDecision.Hold hold) {
        reasons.add(Blockers.renamed(resource, hold));
        needed.add(former);
      }
    }
    return new Hindrance(
        reasons,
        needed.stream()
            .filter(former -> conflicts.isEmpty())
            .findFirst()
            .map(
                former ->
                    DriverObject.ofFormer(
                        former, resource, TemplateSettings.of(resource), config, facts)));
  }

  private List<String> conflicts(CSIDriverDeployment resource) {
    return new Conflicts(config, holders())
        .of(
            resource,
            client.resources(CSIDriverDeployment.class).inAnyNamespace().list().getItems(),
            Optional.ofNullable(
                client
                    .resources(PmemCSIDeployment.class)
                    .withName(String.valueOf(resource.getSpec().driverName()))
                    .get()));
  }

  private List<String> formerDrivers(CSIDriverDeployment resource) {
    String uid = resource.getMetadata().getUid();
    return InstalledDrivers.of(
            client
                .storage()
                .v1()
                .csiDrivers()
                .withLabel(TemplateEventSources.MARKS.uidLabel(), uid)
                .list()
                .getItems(),
            Optional.ofNullable(
                    client
                        .apps()
                        .daemonSets()
                        .inNamespace(resource.getMetadata().getNamespace())
                        .withName(TemplateDriver.nodeWorkload(resource.getMetadata().getName()))
                        .get())
                .filter(found -> InstalledDrivers.isOf(uid, found)))
        .endingFor(String.valueOf(resource.getSpec().driverName()));
  }

  private NameOwners holders() {
    return new NameOwners() {
      @Override
      public Optional<String> ofDriver(String name) {
        return holder(client.storage().v1().csiDrivers().withName(name).get());
      }

      @Override
      public Optional<String> ofStorageClass(String name) {
        return holder(client.storage().v1().storageClasses().withName(name).get());
      }
    };
  }

  private static Optional<String> holder(HasMetadata object) {
    return Optional.ofNullable(object)
        .map(found -> found.getMetadata().getLabels())
        .map(labels -> labels.get(TemplateEventSources.MARKS.uidLabel()));
  }
}
