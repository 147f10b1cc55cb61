package io.pmemcsi.operator;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.operator.apply.Cluster;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.Engine;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.apply.OwnershipLabels;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.pmemdriver.PmemDrivers;
import io.pmemcsi.operator.tools.render.Rendering;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A fictitious previous release: it has no node setup, creates a Service and a Role that are
 * obsolete now, and starts the driver differently.
 */
record PreviousOperator(TestDriver driver, ClusterFacts facts) {

  /** Reconciles the resource once. */
  void run() {
    KubernetesClient client = driver.sandbox().client();
    PmemCSIDeployment resource = driver.self().get();
    new Engine(
            new OwnershipLabels(PmemCSIDeployment.GROUP),
            PmemDrivers.FIELD_MANAGER,
            client.getKubernetesSerialization())
        .apply(Owner.of(resource), desiredState(resource), new WithoutCaches(driver, client));
  }

  private DesiredState desiredState(PmemCSIDeployment resource) {
    var desired = new ArrayList<HasMetadata>();
    for (HasMetadata object : new Rendering().objects(resource, facts)) {
      if (object instanceof DaemonSet daemonSet && isOfNodes(daemonSet)) {
        var container = daemonSet.getSpec().getTemplate().getSpec().getContainers().getFirst();
        container.getArgs().removeLast();
        container.getEnv().add(new EnvVarBuilder().withName("EARLIER").withValue("yes").build());
      }
      if (!object.getMetadata().getName().contains("node-setup")) {
        desired.add(object);
      }
    }
    desired.add(
        new ServiceBuilder()
            .withNewMetadata()
            .withName(driver.prefix() + "-earlier")
            .withNamespace(facts.namespace())
            .endMetadata()
            .withNewSpec()
            .addNewPort()
            .withPort(10010)
            .endPort()
            .endSpec()
            .build());
    desired.add(
        new RoleBuilder()
            .withNewMetadata()
            .withName(driver.prefix() + "-earlier")
            .withNamespace(facts.namespace())
            .endMetadata()
            .build());
    return DesiredState.of(desired);
  }

  private boolean isOfNodes(DaemonSet daemonSet) {
    return daemonSet.getMetadata().getName().equals(driver.prefix() + "-node");
  }

  /** Reads each object from the server. */
  private record WithoutCaches(TestDriver driver, KubernetesClient client) implements Cluster {

    @Override
    public Optional<HasMetadata> find(HasMetadata desired) {
      return Optional.ofNullable(client.resource(desired).get());
    }

    @Override
    public List<HasMetadata> ownedBy(Owner owner) {
      return driver.objects();
    }

    @Override
    public boolean matches(HasMetadata actual, HasMetadata desired) {
      return false;
    }

    @Override
    public HasMetadata create(HasMetadata desired) {
      return write(desired);
    }

    @Override
    public void claimFields(HasMetadata created, HasMetadata desired) {}

    @Override
    public void dryRun(HasMetadata desired) {}

    @Override
    public void apply(HasMetadata actual, HasMetadata desired) {
      write(desired);
    }

    private HasMetadata write(HasMetadata desired) {
      return client
          .resource(desired)
          .fieldManager(PmemDrivers.FIELD_MANAGER)
          .forceConflicts()
          .serverSideApply();
    }

    @Override
    public boolean delete(HasMetadata actual, DeletionPropagation propagation) {
      client.resource(actual).delete();
      await().until(() -> client.resource(actual).get() == null);
      return true;
    }

    @Override
    public void release(HasMetadata actual, Owner owner) {
      throw new UnsupportedOperationException("no earlier release left objects behind");
    }
  }
}
