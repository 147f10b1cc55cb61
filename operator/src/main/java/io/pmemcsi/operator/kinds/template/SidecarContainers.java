package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.pmemcsi.api.template.OptionalSidecar;
import io.pmemcsi.api.template.Sidecars;
import io.pmemcsi.operator.objects.Pods;
import io.pmemcsi.operator.objects.Sidecar;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The containers between the driver's socket and Kubernetes. */
record SidecarContainers(TemplateDriver driver) {

  static final String SOCKET_VOLUME = "csi-driver";
  static final String REGISTRATION_VOLUME = "registration-dir";
  static final String PROBE = "csi-probe";

  private static final String SOCKET_DIR = "/csi";
  private static final String LEADER_ELECTION = "--leader-election";

  /** What the user may set for any sidecar. */
  private record Overrides(List<String> extraArgs, @Nullable ResourceRequirements resources) {

    static Overrides of(@Nullable OptionalSidecar written) {
      return written == null
          ? new Overrides(List.of(), null)
          : new Overrides(
              Optional.ofNullable(written.extraArgs()).orElse(List.of()), written.resources());
    }

    static Overrides of(io.pmemcsi.api.@Nullable Sidecar written) {
      return written == null
          ? new Overrides(List.of(), null)
          : new Overrides(
              Optional.ofNullable(written.extraArgs()).orElse(List.of()), written.resources());
    }
  }

  static String name(Sidecar sidecar) {
    return switch (sidecar) {
      case PROVISIONER -> "csi-provisioner";
      case ATTACHER -> "csi-attacher";
      case RESIZER -> "csi-resizer";
      case SNAPSHOTTER -> "csi-snapshotter";
      case REGISTRAR -> "csi-driver-registrar";
      case LIVENESS_PROBE -> PROBE;
    };
  }

  private Overrides overrides(Sidecar sidecar) {
    Sidecars written = driver.settings().sidecars();
    return switch (sidecar) {
      case PROVISIONER -> Overrides.of(written.provisioner());
      case ATTACHER -> Overrides.of(written.attacher());
      case RESIZER -> Overrides.of(written.resizer());
      case SNAPSHOTTER -> Overrides.of(written.snapshotter());
      case REGISTRAR -> Overrides.of(written.driverRegistrar());
      case LIVENESS_PROBE -> Overrides.of(written.livenessProbe());
    };
  }

  Container registrar(Container first) {
    return sidecar(
        Sidecar.REGISTRAR,
        first,
        driver
            .release(Sidecar.REGISTRAR)
            .arguments("--kubelet-registration-path=$(DRIVER_REG_SOCK_PATH)"),
        overrides(Sidecar.REGISTRAR),
        List.of(
            Pods.variable(
                "DRIVER_REG_SOCK_PATH", driver.hostDirectory() + "/" + driver.socketFile())),
        List.of(Pods.mount(REGISTRATION_VOLUME, "/registration")));
  }

  /** Those of the controller that the resource enables, in the documented order. */
  List<Container> ofController(Container first) {
    return driver.controllerSidecars().stream()
        .map(
            sidecar ->
                sidecar(
                    sidecar,
                    first,
                    controllerFlags(sidecar),
                    overrides(sidecar),
                    controllerVariables(sidecar),
                    List.of()))
        .toList();
  }

  private List<String> controllerFlags(Sidecar sidecar) {
    var flags = new ArrayList<>(driver.release(sidecar).arguments(LEADER_ELECTION));
    if (sidecar == Sidecar.PROVISIONER && driver.publishesCapacity()) {
      flags.add("--enable-capacity");
      flags.add("--capacity-ownerref-level=2");
    }
    return flags;
  }

  private List<EnvVar> controllerVariables(Sidecar sidecar) {
    return sidecar == Sidecar.PROVISIONER && driver.publishesCapacity()
        ? List.of(
            Pods.podField("NAMESPACE", "metadata.namespace"),
            Pods.podField("POD_NAME", "metadata.name"))
        : List.of();
  }

  /** Probes the driver on behalf of the kubelet, which does not speak CSI. */
  Container probe(Container first, int port) {
    Overrides written = overrides(Sidecar.LIVENESS_PROBE);
    return sidecar(
        Sidecar.LIVENESS_PROBE,
        first,
        driver
            .release(Sidecar.LIVENESS_PROBE)
            .arguments(
                "--health-port=" + port,
                "--probe-timeout=%ds".formatted(driver.settings().probeTimeoutSeconds())),
        new Overrides(
            written.extraArgs().stream()
                .filter(argument -> LivenessProbe.port(argument).isEmpty())
                .toList(),
            written.resources()),
        List.of(),
        List.of());
  }

  /** Runs as the driver does, or it could not open the driver's socket. */
  private Container sidecar(
      Sidecar sidecar,
      Container first,
      List<String> flags,
      Overrides overrides,
      List<EnvVar> variables,
      List<VolumeMount> mounts) {
    var args = new ArrayList<String>();
    args.add("--v=" + driver.settings().logLevel());
    args.add("--csi-address=$(ADDRESS)");
    args.addAll(flags);
    args.addAll(overrides.extraArgs());
    var container =
        new ContainerBuilder()
            .withName(name(sidecar))
            .withImage(driver.image(sidecar))
            .withArgs(args)
            .withResources(overrides.resources())
            .addToEnv(Pods.variable("ADDRESS", SOCKET_DIR + "/" + driver.socketFile()))
            .addAllToEnv(variables)
            .addToVolumeMounts(Pods.mount(SOCKET_VOLUME, SOCKET_DIR))
            .addAllToVolumeMounts(mounts);
    if (first.getSecurityContext() != null) {
      container.withSecurityContext(new SecurityContextBuilder(first.getSecurityContext()).build());
    }
    return container.build();
  }
}
