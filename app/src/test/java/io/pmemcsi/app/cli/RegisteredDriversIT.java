package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.storage.CSINodeBuilder;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.registry.NodeInventory;
import io.pmemcsi.operator.runtime.KubeconfigContent;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The inventory of a central controller, from objects of a real cluster. */
@WithKubernetes
class RegisteredDriversIT {

  /** More than one page. */
  private static final int MANY = 501;

  private Sandbox sandbox;
  private DriverName driver;
  private NodeInventory inventory;

  @BeforeEach
  void open(Sandbox sandbox) throws IOException {
    this.sandbox = sandbox;
    driver = new DriverName(sandbox.namespace() + ".example.com");
    Path kubeconfig = sandbox.cluster().kubeconfig();
    inventory =
        new RegisteredDrivers(
            driver, Optional.of(new KubeconfigContent(kubeconfig, Files.readString(kubeconfig))));
  }

  @Test
  void nodesWithTheDriverAreListed() throws IOException {
    String registered = node("registered");
    csiNode(registered, driver);
    csiNode(node("other"), new DriverName("other.example.com"));
    var _ = node("empty");

    assertThat(inventory.nodes()).containsExactly(registered);
  }

  /** kubelet removes the driver from the CSINode when the pod of the driver stops. */
  @Test
  void nodesWithVolumesAreListedWhileTheDriverDoesNotRunThere() throws IOException {
    String one = node("one");
    String two = node("two");
    String other = node("other");
    sandbox.create(volume("cache", driver, one, two));
    sandbox.create(volume("other", new DriverName("other.example.com"), other));
    sandbox.create(volume("lost", driver, name("deleted")));

    assertThat(inventory.nodes()).containsExactlyInAnyOrder(one, two);
  }

  @Test
  void onlyNodesWithoutNodeObjectAreDeleted() throws IOException {
    String node = node("without-driver");

    assertThat(inventory.nodes()).isEmpty();
    assertThat(inventory.deleted(List.of(node, name("gone")))).containsExactly(name("gone"));
  }

  @Test
  void volumesOnAllPagesCount() throws IOException {
    String first = node("first");
    String last = node("last");
    Map<String, String> label = Map.of("test", sandbox.namespace());
    sandbox.cleanUp(
        () -> sandbox.client().persistentVolumes().withLabels(label).withGracePeriod(0).delete());
    for (int i = 0; i < MANY; i++) {
      PersistentVolume volume = volume("%04d".formatted(i), driver, i < MANY - 1 ? first : last);
      volume.getMetadata().setLabels(label);
      sandbox.client().resource(volume).create();
    }

    assertThat(inventory.nodes()).containsExactlyInAnyOrder(first, last);
  }

  private String name(String suffix) {
    return sandbox.namespace() + "-" + suffix;
  }

  private String node(String suffix) {
    return sandbox
        .create(new NodeBuilder().withNewMetadata().withName(name(suffix)).endMetadata().build())
        .getMetadata()
        .getName();
  }

  private void csiNode(String node, DriverName installed) {
    sandbox.create(
        new CSINodeBuilder()
            .withNewMetadata()
            .withName(node)
            .endMetadata()
            .withNewSpec()
            .addNewDriver()
            .withName(installed.value())
            .withNodeID(node)
            .withTopologyKeys(installed.topologyKey())
            .endDriver()
            .endSpec()
            .build());
  }

  private PersistentVolume volume(String suffix, DriverName provisioner, String... nodes) {
    return new PersistentVolumeBuilder()
        .withNewMetadata()
        .withName(name(suffix))
        .endMetadata()
        .withNewSpec()
        .withCapacity(Map.of("storage", new Quantity("1Gi")))
        .withAccessModes("ReadWriteOnce")
        .withPersistentVolumeReclaimPolicy("Retain")
        .withNewCsi()
        .withDriver(provisioner.value())
        .withVolumeHandle(suffix)
        .endCsi()
        .withNewNodeAffinity()
        .withNewRequired()
        .addNewNodeSelectorTerm()
        .addNewMatchExpression()
        .withKey(provisioner.topologyKey())
        .withOperator("In")
        .withValues(nodes)
        .endMatchExpression()
        .endNodeSelectorTerm()
        .endRequired()
        .endNodeAffinity()
        .endSpec()
        .build();
  }
}
