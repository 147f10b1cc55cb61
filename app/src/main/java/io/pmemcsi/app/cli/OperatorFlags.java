package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.app.settings.ImageName;
import io.pmemcsi.app.settings.OperatorSettings;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.base.http.ListenAddress;
import java.util.List;
import picocli.CommandLine.Option;

/** The documented flags of the operator, with their documented defaults. */
final class OperatorFlags {

  static final List<String> WITHOUT_EFFECT = List.of("--webhook");

  @Option(
      names = "--image",
      paramLabel = "IMAGE",
      order = 1,
      description =
          "Driver image for resources that name none (default: the image of the operator's own"
              + " pod).")
  private String image = "";

  @Option(
      names = "--leader-election",
      arity = "0..1",
      fallbackValue = "true",
      converter = GoBoolean.class,
      paramLabel = "true|false",
      order = 2,
      description = "Lets one of several operators work and the others wait (default false).")
  private boolean leaderElection;

  @Option(
      names = "--metrics-addr",
      paramLabel = "ADDRESS",
      order = 3,
      description = "Where metrics and health are served, 0 for nowhere (default :8080).")
  private String metricsAddress = ":8080";

  @Option(
      names = "--config",
      paramLabel = "FILE",
      order = 4,
      description = "Defaults for CSIDriverDeployment resources: images, roles, kubelet directory.")
  private String config = "";

  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      order = 5,
      description =
          "How to reach the cluster (default $KUBECONFIG, else the pod's own account, else"
              + " ~/.kube/config).")
  private String kubeconfig = "";

  /** The flags as checked values. */
  OperatorSettings settings(CliEnvironment environment) {
    String cluster =
        kubeconfig.isEmpty() ? Kubeconfig.onlyOne(environment.variable("KUBECONFIG")) : kubeconfig;
    return new OperatorSettings(
        Flag.optional("-image", image, ImageName::new).map(ImageName::value),
        leaderElection,
        metricsAddress.equals("0")
            ? java.util.Optional.empty()
            : Flag.optional("-metrics-addr", metricsAddress, ListenAddress::parse),
        Flag.optional("--config", config, FilePath::parse),
        Flag.optional("--kubeconfig", cluster, FilePath::parse));
  }
}
