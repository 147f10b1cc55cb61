package io.pmemcsi.testbed.node;

import io.pmemcsi.testbed.kubernetes.ControlPlane;
import io.pmemcsi.testbed.kubernetes.KubernetesVersion;
import io.pmemcsi.testbed.kubernetes.Network;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The files and flags with which the programs of a node start. */
record NodeConfiguration(Path directory, NodePrograms programs, Cgroups cgroups) {

  static final String CONTAINERD = "/run/containerd/containerd.sock";

  /** Of Kubernetes before 1.21. */
  static final String ALPHA_FEATURES = "CSIStorageCapacity=true,GenericEphemeralVolume=true";

  private static final String CNI =
      """
      {"cniVersion": "0.4.0", "name": "pods", "plugins": [
       {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
        "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.0.0/24"}]],
         "routes": [{"dst": "0.0.0.0/0"}]}},
       {"type": "portmap", "capabilities": {"portMappings": true}}]}
      """;

  // restrict_oom_score_adj: runc fails where this JVM may not lower the score of its children
  private static final String CONTAINERD_TOML =
      """
      version = 2
      root = "%1$s/containerd"
      state = "/run/containerd"
      disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
        "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs",
        "io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp"]
      [grpc]
        address = "%2$s"
      [plugins."io.containerd.internal.v1.opt"]
        path = "%1$s/opt"
      [plugins."io.containerd.grpc.v1.cri"]
        sandbox_image = "%3$s"
        stream_server_address = "127.0.0.1"
        disable_apparmor = true
        restrict_oom_score_adj = true
        [plugins."io.containerd.grpc.v1.cri".containerd]
          snapshotter = "overlayfs"
          default_runtime_name = "runc"
          [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
            runtime_type = "io.containerd.runc.v2"
            [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
              BinaryName = "%4$s"
              SystemdCgroup = false
        [plugins."io.containerd.grpc.v1.cri".cni]
          bin_dir = "%5$s"
          conf_dir = "%1$s/cni"
      """;

  private static final String KUBELET_YAML =
      """
      apiVersion: kubelet.config.k8s.io/v1beta1
      kind: KubeletConfiguration
      address: 0.0.0.0
      readOnlyPort: 0
      authentication:
        anonymous: {enabled: false}
        webhook: {enabled: true}
        x509: {clientCAFile: %s}
      authorization: {mode: Webhook}
      cgroupDriver: cgroupfs
      cgroupRoot: /%s
      failSwapOn: false
      imageGCHighThresholdPercent: 100
      evictionHard: {memory.available: 100Mi, nodefs.available: 1%%, nodefs.inodesFree: 1%%, imagefs.available: 1%%}
      volumePluginDir: /var/lib/kubelet/flex
      clusterDomain: cluster.local
      # nothing answers there unless a test starts a pod that does
      clusterDNS: [%s]
      nodeStatusUpdateFrequency: 5s
      # kubelet 1.20 reports a startup probe's success with the next synchronization of the pod
      syncFrequency: 5s
      """;

  /** Writes the files of containerd and returns its command. */
  List<String> containerd() {
    write(directory.resolve("cni/10-pods.conflist"), CNI);
    Path file = directory.resolve("containerd.toml");
    write(
        file,
        CONTAINERD_TOML.formatted(
            directory,
            CONTAINERD,
            NodeImages.PAUSE,
            programs.bin().resolve("runc"),
            programs.cni()));
    return List.of(programs.bin().resolve("containerd").toString(), "--config=" + file);
  }

  /** Writes the files of kubelet and returns its command. */
  List<String> kubelet(ControlPlane plane) {
    KubernetesVersion version = plane.version();
    StringBuilder yaml =
        new StringBuilder(
            KUBELET_YAML.formatted(
                plane.authorityFile(), cgroups.name(), plane.network().address()));
    List<String> command = new ArrayList<>();
    command.add(plane.binaries().get("kubelet").toString());
    if (!version.isAtLeast(1, 21)) {
      command.add("--feature-gates=" + ALPHA_FEATURES);
    }
    if (version.isAtLeast(1, 31)) {
      yaml.append("failCgroupV1: false\n");
    }
    if (version.isAtLeast(1, 27)) {
      yaml.append("containerRuntimeEndpoint: unix://%s%n".formatted(CONTAINERD));
    } else {
      command.add("--container-runtime-endpoint=unix://" + CONTAINERD);
    }
    if (!version.isAtLeast(1, 24)) {
      command.add("--container-runtime=remote");
    }
    Path file = directory.resolve("kubelet.yaml");
    write(file, yaml.toString());
    command.addAll(
        List.of(
            "--config=" + file,
            "--kubeconfig=" + plane.kubeletKubeconfig(),
            "--root-dir=/var/lib/kubelet",
            "--cert-dir=/var/lib/kubelet/pki",
            "--hostname-override=" + Network.NODE,
            "--node-ip=" + plane.network().address(),
            "--v=2"));
    return command;
  }

  List<String> kubeProxy(ControlPlane plane) {
    return List.of(
        plane.binaries().get("kube-proxy").toString(),
        "--kubeconfig=" + plane.kubeProxyKubeconfig(),
        "--proxy-mode=iptables",
        "--cluster-cidr=10.244.0.0/16",
        "--hostname-override=" + Network.NODE,
        // these would change the kernel for all namespaces
        "--conntrack-max-per-core=0",
        "--conntrack-tcp-timeout-established=0",
        "--conntrack-tcp-timeout-close-wait=0",
        "--healthz-bind-address=127.0.0.1:10256",
        "--metrics-bind-address=127.0.0.1:10249");
  }

  private static void write(Path file, String text) {
    try {
      Files.createDirectories(file.resolveSibling(""));
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
  }
}
