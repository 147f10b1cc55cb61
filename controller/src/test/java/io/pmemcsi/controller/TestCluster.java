package io.pmemcsi.controller;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.pmemcsi.controller.capacity.WatchedCapacity;
import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.ControlPlane;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The cluster that the tests of this module share. It serves CSIStorageCapacity, which is off by
 * default in old versions, and its controllers may write more often per second than usual.
 */
final class TestCluster {

  private static final Cluster SHARED = start();

  private TestCluster() {}

  static Cluster get() {
    return SHARED;
  }

  static ControlPlane plane() {
    return SHARED.controlPlane().orElseThrow();
  }

  /** The version of CSIStorageCapacity that the server has. */
  static String capacityVersion(KubernetesClient client, String namespace) {
    return WatchedCapacity.servedVersion(client, namespace).orElseThrow();
  }

  /** CSIStorageCapacity in this version. */
  static ResourceDefinitionContext capacities(String version) {
    return new ResourceDefinitionContext.Builder()
        .withGroup("storage.k8s.io")
        .withVersion(version)
        .withKind("CSIStorageCapacity")
        .withPlural("csistoragecapacities")
        .withNamespaced(true)
        .build();
  }

  private static Cluster start() {
    Binaries binaries = Binaries.find();
    var apiServer = new ArrayList<String>();
    var scheduler = new ArrayList<String>();
    var controllers = new ArrayList<>(List.of("--kube-api-qps=500", "--kube-api-burst=500"));
    if (!binaries.version().isAtLeast(1, 21)) {
      String ephemeral = "GenericEphemeralVolume=true";
      apiServer.add("--feature-gates=CSIStorageCapacity=true," + ephemeral);
      apiServer.add("--runtime-config=storage.k8s.io/v1alpha1=true");
      scheduler.add("--feature-gates=" + ephemeral);
      controllers.add("--feature-gates=" + ephemeral);
    }
    ControlPlane plane =
        ControlPlane.start(
            binaries,
            Map.of(
                "kube-apiserver", apiServer,
                "kube-scheduler", scheduler,
                "kube-controller-manager", controllers));
    plane.startControllers();
    return Cluster.of(plane);
  }
}
