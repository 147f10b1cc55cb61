package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.pmemcsi.api.template.OptionalSidecar;
import io.pmemcsi.api.template.Sidecars;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.sidecars.Sidecar;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The containers that stand between the driver's socket and Kubernetes. */
record SidecarContainers(TemplateDriver driver) {

  static final String SOCKET_VOLUME = "csi-driver";
  static final String REGISTRATION_VOLUME = "registration-dir";

  static final String REGISTRAR = "csi-driver-registrar";
  static final String PROVISIONER = "csi-provisioner";
  static final String ATTACHER = "csi-attacher";
  static final String RESIZER = "csi-resizer";
  static final String SNAPSHOTTER = "csi-snapshotter";
  static final String PROBE = "csi-probe";

  private static final String LEADER_ELECTION = "--leader-election";

  /** What the user may say about any sidecar. */
  private record Overrides(List<String> extraArgs, @Nullable ResourceRequirements resources) {

    static Overrides of(@Nullable OptionalSidecar written) {
      return written == null
          ? new Overrides(List.of(), null)
          : new Overrides(
              Optional.ofNullable(written.extraArgs()).orElse(List.of()), written.resources());
    }

    static Overrides of(io.pmemcsi.api.template.@Nullable Sidecar written) {
      return written == null
          ? new Overrides(List.of(), null)
          : new Overrides(
              Optional.ofNullable(written.extraArgs()).orElse(List.of()), written.resources());
    }
  }

  Container registrar(Container first) {
    Container container =
        sidecar(
            REGISTRAR,
            Sidecar.REGISTRAR,
            first,
            Overrides.of(wishes().driverRegistrar()),
            "--kubelet-registration-path=$(DRIVER_REG_SOCK_PATH)");
    container
        .getEnv()
        .add(variable("DRIVER_REG_SOCK_PATH", driver.hostFolder() + "/" + driver.socketFile()));
    return new ContainerBuilder(container)
        .addNewVolumeMount()
        .withName(REGISTRATION_VOLUME)
        .withMountPath("/registration")
        .endVolumeMount()
        .build();
  }

  /** Those of the controller that are wanted, in the documented order. */
  List<Container> ofController(Container first) {
    var settings = driver.settings();
    var result = new ArrayList<Container>();
    if (settings.hasProvisioner()) {
      result.add(provisioner(first));
    }
    if (settings.hasAttacher()) {
      result.add(
          sidecar(
              ATTACHER,
              Sidecar.ATTACHER,
              first,
              Overrides.of(wishes().attacher()),
              LEADER_ELECTION));
    }
    if (settings.hasResizer()) {
      result.add(
          sidecar(
              RESIZER, Sidecar.RESIZER, first, Overrides.of(wishes().resizer()), LEADER_ELECTION));
    }
    if (settings.hasSnapshotter()) {
      result.add(
          sidecar(
              SNAPSHOTTER,
              Sidecar.SNAPSHOTTER,
              first,
              Overrides.of(wishes().snapshotter()),
              LEADER_ELECTION));
    }
    return result;
  }

  /** Asks the driver for the kubelet, which cannot ask it itself. */
  Container probe(Container first, int port) {
    return sidecar(
        PROBE,
        Sidecar.LIVENESS_PROBE,
        first,
        new Overrides(
            Overrides.of(wishes().livenessProbe()).extraArgs().stream()
                .filter(argument -> LivenessProbe.port(argument).isEmpty())
                .toList(),
            Overrides.of(wishes().livenessProbe()).resources()),
        "--health-port=" + port,
        "--probe-timeout=%ds".formatted(driver.settings().probeTimeoutSeconds()));
  }

  boolean publishesCapacity() {
    return driver.settings().hasProvisioner()
        && Boolean.TRUE.equals(driver.settings().csiDriver().storageCapacity())
        && driver.facts().serves(ServedApi.STORAGE_CAPACITY);
  }

  private Container provisioner(Container first) {
    var flags = new ArrayList<>(List.of(LEADER_ELECTION));
    if (!driver.facts().version().atLeast(1, 27)) {
      // always on from csi-provisioner 5
      flags.add("--feature-gates=Topology=true");
    }
    if (publishesCapacity()) {
      flags.add("--enable-capacity");
      flags.add("--capacity-ownerref-level=2");
    }
    Container container =
        sidecar(
            PROVISIONER,
            Sidecar.PROVISIONER,
            first,
            Overrides.of(wishes().provisioner()),
            flags.toArray(String[]::new));
    if (publishesCapacity()) {
      container.getEnv().add(podField("NAMESPACE", "metadata.namespace"));
      container.getEnv().add(podField("POD_NAME", "metadata.name"));
    }
    return container;
  }

  /** Runs as the driver does, or it could not open the driver's socket. */
  private Container sidecar(
      String name, Sidecar image, Container first, Overrides wishes, String... flags) {
    var args = new ArrayList<String>();
    args.add("--v=" + driver.settings().logLevel());
    args.add("--csi-address=$(ADDRESS)");
    args.addAll(List.of(flags));
    args.addAll(wishes.extraArgs());
    Container container =
        new ContainerBuilder()
            .withName(name)
            .withImage(driver.image(image))
            .withArgs(args)
            .withResources(wishes.resources())
            .addNewVolumeMount()
            .withName(SOCKET_VOLUME)
            .withMountPath("/csi")
            .endVolumeMount()
            .build();
    container.setEnv(new ArrayList<>(List.of(variable("ADDRESS", "/csi/" + driver.socketFile()))));
    if (first.getSecurityContext() != null) {
      container.setSecurityContext(new SecurityContextBuilder(first.getSecurityContext()).build());
    }
    return container;
  }

  private Sidecars wishes() {
    return driver.settings().sidecars();
  }

  private static EnvVar variable(String name, String value) {
    return new EnvVarBuilder().withName(name).withValue(value).build();
  }

  private static EnvVar podField(String name, String path) {
    return new EnvVarBuilder()
        .withName(name)
        .withNewValueFrom()
        .withNewFieldRef()
        .withApiVersion("v1")
        .withFieldPath(path)
        .endFieldRef()
        .endValueFrom()
        .build();
  }
}
