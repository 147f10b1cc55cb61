package io.pmemcsi.operator.generic;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPortBuilder;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.pmemcsi.api.generic.CSIDriverDeploymentSpec;
import io.pmemcsi.api.generic.GenericSettings;
import io.pmemcsi.api.generic.Sidecar;
import io.pmemcsi.api.generic.Sidecars;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Lets the kubelet restart a driver that does not answer; only where the user asks for it. */
record LivenessProbe(GenericDriver driver) {

  private static final int DEFAULT_PORT = 9808;
  private static final int FAILURES = 3;
  private static final Pattern PORT_ARGUMENT = Pattern.compile("--?health-port=(\\d{1,5})");

  /** Where the probe of the pods on the nodes listens. */
  static int nodePort(GenericSettings settings) {
    return port(settings.spec());
  }

  /** One further where both kinds of pods share the network of a node. */
  static int controllerPort(GenericSettings settings) {
    boolean shared =
        usesHostNetwork(settings.nodeTemplate())
            && settings.controllerTemplate().filter(LivenessProbe::usesHostNetwork).isPresent();
    return nodePort(settings) + (shared ? 1 : 0);
  }

  /** The port that the user chose by an argument of the sidecar, or the usual one. */
  static int port(CSIDriverDeploymentSpec spec) {
    return Optional.ofNullable(spec.sidecars())
        .map(Sidecars::livenessProbe)
        .map(Sidecar::extraArgs)
        .orElse(List.of())
        .stream()
        .flatMap(argument -> port(argument).stream())
        .reduce((first, last) -> last)
        .orElse(DEFAULT_PORT);
  }

  static Optional<Integer> port(String argument) {
    Matcher matcher = PORT_ARGUMENT.matcher(argument);
    return matcher.matches() ? Optional.of(Integer.parseInt(matcher.group(1))) : Optional.empty();
  }

  /** Adds the probe, unless the user wants none. */
  void addTo(PodSpec pod, int port) {
    driver
        .settings()
        .probePeriodSeconds()
        .ifPresent(
            period -> {
              Container first = pod.getContainers().getFirst();
              var ports = new ArrayList<>(first.getPorts());
              ports.add(
                  new ContainerPortBuilder()
                      .withName(SidecarContainers.PROBE)
                      .withContainerPort(port)
                      .withProtocol("TCP")
                      .build());
              first.setPorts(ports);
              first.setLivenessProbe(
                  new ProbeBuilder()
                      .withNewHttpGet()
                      .withPath("/healthz")
                      .withPort(new IntOrString(SidecarContainers.PROBE))
                      .endHttpGet()
                      .withFailureThreshold(FAILURES)
                      .withInitialDelaySeconds(period)
                      .withPeriodSeconds(period)
                      .withTimeoutSeconds(driver.settings().probeTimeoutSeconds())
                      .build());
              pod.getContainers().add(new SidecarContainers(driver).probe(first, port));
            });
  }

  private static boolean usesHostNetwork(PodTemplateSpec template) {
    return Boolean.TRUE.equals(template.getSpec().getHostNetwork());
  }
}
