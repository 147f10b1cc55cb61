package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.objects.Pods;
import io.pmemcsi.operator.objects.Sidecar;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The external provisioner, on each node or once.
 *
 * @param csiAddress the flag with the driver's socket
 * @param socketVolume the volume with that socket
 */
record Provisioner(PmemModel driver, String csiAddress, String socketVolume) {

  /**
   * The container.
   *
   * @param where flags that depend on where it runs
   */
  Container container(List<String> where, EnvVar... variables) {
    return new ContainerBuilder()
        .withName("external-provisioner")
        .withImage(
            driver
                .settings()
                .provisionerImage()
                .orElseGet(() -> driver.release(Sidecar.PROVISIONER).image()))
        .withImagePullPolicy(driver.pullPolicy())
        .withArgs(arguments(where))
        .withEnv(variables(variables))
        .withPorts(
            Pods.port(PmemModel.PROVISIONER_METRICS_PORT_NAME, PmemModel.PROVISIONER_METRICS_PORT))
        .withStartupProbe(PmemModel.startup("/metrics", PmemModel.PROVISIONER_METRICS_PORT_NAME))
        .withLivenessProbe(PmemModel.liveness("/metrics", PmemModel.PROVISIONER_METRICS_PORT_NAME))
        .withSecurityContext(Pods.readOnlyRootFilesystem())
        .withResources(driver.sizing().provisioner())
        .withVolumeMounts(Pods.mount(socketVolume, "/csi"))
        .build();
  }

  private List<String> arguments(List<String> where) {
    var args = new ArrayList<String>();
    args.add(driver.verbosity());
    args.add(csiAddress);
    args.addAll(driver.release(Sidecar.PROVISIONER).flags());
    args.addAll(where);
    args.add("--strict-topology=true");
    args.add("--immediate-topology=false");
    args.add("--timeout=5m");
    args.add("--default-fstype=ext4");
    args.add("--worker-threads=5");
    if (publishesCapacity()) {
      args.add("--enable-capacity");
      // owned by the pod, so that a node which loses its driver loses its capacity as well
      args.add("--capacity-ownerref-level=0");
    }
    args.add("--metrics-address=:" + PmemModel.PROVISIONER_METRICS_PORT);
    return args;
  }

  private List<EnvVar> variables(EnvVar... variables) {
    var env = new ArrayList<>(Arrays.asList(variables));
    if (publishesCapacity()) {
      env.add(Pods.podField("NAMESPACE", "metadata.namespace"));
      env.add(Pods.podField("POD_NAME", "metadata.name"));
    }
    return env;
  }

  private boolean publishesCapacity() {
    return driver.facts().serves(ServedApi.STORAGE_CAPACITY);
  }
}
