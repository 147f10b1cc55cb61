package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** One PmemCSIDeployment of a test. */
record TestDriver(Sandbox sandbox, String name) {

  private static final Duration LIMIT = Duration.ofMinutes(2);

  /** Creates the resource; it is deleted with its objects when the test ends. */
  PmemCSIDeployment create(String spec) {
    PmemCSIDeployment created = client().resource(resource(spec)).create();
    sandbox.cleanUp(this::removeAll);
    return created;
  }

  PmemCSIDeployment resource(String spec) {
    return PmemResource.of(name, spec);
  }

  /** As {@code kubectl replace} does it. */
  void setSpec(String spec) {
    edit(resource -> resource.setSpec(resource(spec).getSpec()));
  }

  void edit(Consumer<PmemCSIDeployment> change) {
    Edits.edit(
        self(),
        resource -> {
          change.accept(resource);
          return resource;
        });
  }

  Resource<PmemCSIDeployment> self() {
    return client().resources(PmemCSIDeployment.class).withName(name);
  }

  PmemCSIDeploymentStatus status() {
    return self().get().getStatus();
  }

  Optional<DeploymentCondition> condition(String type) {
    return status().condition(type);
  }

  void awaitPhase(String phase) {
    await(name)
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(status().phaseOrNew()).as(status().toString()).isEqualTo(phase));
  }

  void awaitDeleted() {
    await(name).atMost(LIMIT).until(() -> self().get() == null);
  }

  /** The prefix of the names of objects. */
  String prefix() {
    return name.replace('.', '-');
  }

  Resource<DaemonSet> daemonSet() {
    return client()
        .apps()
        .daemonSets()
        .inNamespace(sandbox.namespace())
        .withName(prefix() + "-node");
  }

  List<HasMetadata> objects() {
    return Leftovers.objects(client(), sandbox.namespace(), prefix(), name);
  }

  List<String> objectNames() {
    return Leftovers.of(client(), sandbox.namespace(), prefix(), name);
  }

  List<String> events() {
    String uid = self().get().getMetadata().getUid();
    return client().v1().events().inNamespace("default").list().getItems().stream()
        .filter(event -> uid.equals(event.getInvolvedObject().getUid()))
        .map(Event::getReason)
        .toList();
  }

  /** Works with and without a running operator. */
  void removeAll() {
    Leftovers.remove(client(), sandbox.namespace(), prefix(), name);
  }

  private KubernetesClient client() {
    return sandbox.client();
  }
}
