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
import io.pmemcsi.operator.kinds.pmem.PmemKind;
import io.pmemcsi.operator.tools.render.Rendering;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A release that never was: it knows nothing of the set-up of nodes, makes a service and a role
 * that are no longer made, and starts the driver in another way.
 */
record EarlierOperator(TestDriver driver, ClusterFacts facts) {

  /** Looks once at the resource and does what it thinks right. */
  void run() {
    KubernetesClient client = driver.sandbox().client();
    PmemCSIDeployment resource = driver.self().get();
    new Engine(
            new OwnershipLabels(PmemCSIDeployment.GROUP),
            PmemKind.FIELD_MANAGER,
            client.getKubernetesSerialization())
        .apply(Owner.of(resource), blueprint(resource), new WithoutCaches(driver, client));
  }

  private DesiredState blueprint(PmemCSIDeployment resource) {
    var wanted = new ArrayList<HasMetadata>();
    for (HasMetadata object : new Rendering().objects(resource, facts)) {
      if (object instanceof DaemonSet daemonSet && isOfNodes(daemonSet)) {
        var container = daemonSet.getSpec().getTemplate().getSpec().getContainers().getFirst();
        container.getArgs().removeLast();
        container.getEnv().add(new EnvVarBuilder().withName("EARLIER").withValue("yes").build());
      }
      if (!object.getMetadata().getName().contains("node-setup")) {
        wanted.add(object);
      }
    }
    wanted.add(
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
    wanted.add(
        new RoleBuilder()
            .withNewMetadata()
            .withName(driver.prefix() + "-earlier")
            .withNamespace(facts.namespace())
            .endMetadata()
            .build());
    return DesiredState.of(wanted);
  }

  private boolean isOfNodes(DaemonSet daemonSet) {
    return daemonSet.getMetadata().getName().equals(driver.prefix() + "-node");
  }

  /** The cluster as the engine wants it, asked anew each time. */
  private record WithoutCaches(TestDriver driver, KubernetesClient client) implements Cluster {

    @Override
    public Optional<HasMetadata> find(HasMetadata wanted) {
      return Optional.ofNullable(client.resource(wanted).get());
    }

    @Override
    public List<HasMetadata> ownedBy(Owner owner) {
      return driver.objects();
    }

    @Override
    public boolean matches(HasMetadata actual, HasMetadata wanted) {
      return false;
    }

    @Override
    public HasMetadata create(HasMetadata wanted) {
      return write(wanted);
    }

    @Override
    public void claimFields(HasMetadata created, HasMetadata wanted) {}

    @Override
    public void dryRun(HasMetadata wanted) {}

    @Override
    public void apply(HasMetadata actual, HasMetadata wanted) {
      write(wanted);
    }

    private HasMetadata write(HasMetadata wanted) {
      return client
          .resource(wanted)
          .fieldManager(PmemKind.FIELD_MANAGER)
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
