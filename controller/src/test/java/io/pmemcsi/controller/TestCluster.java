package io.pmemcsi.controller;

import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.ControlPlane;
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

  private static Cluster start() {
    ControlPlane plane =
        ControlPlane.start(
            Binaries.find(),
            Map.of(
                "kube-apiserver",
                List.of(
                    "--feature-gates=CSIStorageCapacity=true,GenericEphemeralVolume=true",
                    "--runtime-config=storage.k8s.io/v1alpha1=true"),
                "kube-controller-manager",
                List.of(
                    "--feature-gates=GenericEphemeralVolume=true",
                    "--kube-api-qps=500",
                    "--kube-api-burst=500")));
    plane.startControllers();
    return Cluster.of(plane);
  }
}
