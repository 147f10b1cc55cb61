package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.app.settings.ImageName;
import io.pmemcsi.app.settings.OperatorSettings;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.base.http.ListenAddress;
import java.util.List;
import java.util.Optional;

/** The documented flags of the operator, with their documented defaults. */
final class OperatorFlags {

  static final List<String> WITHOUT_EFFECT = List.of("--webhook");

  private static final FlagDefinition IMAGE =
      FlagDefinition.of(
          "--image",
          "IMAGE",
          "",
          "Driver image for resources that name none (default: the image of the operator's own"
              + " pod).");
  private static final FlagDefinition LEADER_ELECTION =
      FlagDefinition.ofSwitch(
          "--leader-election",
          "Lets one of several operators work and the others wait (default false).");
  private static final FlagDefinition METRICS_ADDRESS =
      FlagDefinition.of(
          "--metrics-addr",
          "ADDRESS",
          ":8080",
          "Where metrics and health are served, 0 for nowhere (default :8080).");
  private static final FlagDefinition CONFIG =
      FlagDefinition.of(
          "--config",
          "FILE",
          "",
          "Defaults for CSIDriverDeployment resources: images, roles, kubelet directory.");
  private static final FlagDefinition KUBECONFIG =
      FlagDefinition.of(
          "--kubeconfig",
          "FILE",
          "",
          "How to reach the cluster (default $KUBECONFIG, else the pod's own account, else"
              + " ~/.kube/config).");

  private final FlagGroup flags =
      new FlagGroup(IMAGE, LEADER_ELECTION, METRICS_ADDRESS, CONFIG, KUBECONFIG);

  FlagGroup group() {
    return flags;
  }

  /** The flags as checked values. */
  OperatorSettings settings(CliEnvironment environment) {
    String kubeconfig = flags.value(KUBECONFIG);
    String metricsAddress = flags.value(METRICS_ADDRESS);
    return new OperatorSettings(
        Flag.optional("-image", flags.value(IMAGE), ImageName::new).map(ImageName::value),
        Flag.required("-leader-election", flags.value(LEADER_ELECTION), Flag::bool),
        metricsAddress.equals("0")
            ? Optional.empty()
            : Flag.optional("-metrics-addr", metricsAddress, ListenAddress::parse),
        Flag.optional("--config", flags.value(CONFIG), FilePath::parse),
        Flag.optional(
            "--kubeconfig",
            kubeconfig.isEmpty()
                ? Kubeconfig.onlyOne(environment.variable("KUBECONFIG"))
                : kubeconfig,
            FilePath::parse));
  }
}
