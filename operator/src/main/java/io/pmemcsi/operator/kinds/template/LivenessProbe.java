package io.pmemcsi.operator.kinds.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.pmemcsi.api.Sidecar;
import io.pmemcsi.api.template.CSIDriverDeploymentSpec;
import io.pmemcsi.api.template.Sidecars;
import io.pmemcsi.api.template.TemplateSettings;
import io.pmemcsi.operator.objects.Pods;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Lets the kubelet restart a driver that does not answer; only where the user enables it. */
record LivenessProbe(TemplateDriver driver) {

  private static final int DEFAULT_PORT = 9808;
  private static final int FAILURES = 3;
  private static final int LAST_PORT = 65_535;
  private static final Pattern PORT_ARGUMENT = Pattern.compile("--?health-port=(\\d{1,5})");
  private static final Pattern OTHER_ADDRESS =
      Pattern.compile("--?(health-port|http-endpoint)(=.*)?", Pattern.DOTALL);

  /** Where the probe of the pods on the nodes listens. */
  static int nodePort(TemplateSettings settings) {
    return port(settings.spec());
  }

  static int controllerPort(TemplateSettings settings) {
    return controllerPort(settings.spec());
  }

  /** One further where both kinds of pods share the network of a node. */
  static int controllerPort(CSIDriverDeploymentSpec spec) {
    boolean shared =
        usesHostNetwork(spec.driverPerNodeTemplate())
            && usesHostNetwork(spec.driverControllerTemplate());
    return port(spec) + (shared ? 1 : 0);
  }

  /** The port that the user chose by an argument of the sidecar, or the usual one. */
  static int port(CSIDriverDeploymentSpec spec) {
    return arguments(spec).stream()
        .flatMap(argument -> port(argument).stream())
        .reduce((first, last) -> last)
        .orElse(DEFAULT_PORT);
  }

  private static List<String> arguments(CSIDriverDeploymentSpec spec) {
    return Optional.ofNullable(spec.sidecars())
        .map(Sidecars::livenessProbe)
        .map(Sidecar::extraArgs)
        .orElse(List.of());
  }

  static Optional<Integer> port(String argument) {
    Matcher matcher = PORT_ARGUMENT.matcher(argument);
    return matcher.matches() ? Optional.of(Integer.parseInt(matcher.group(1))) : Optional.empty();
  }

  /** Mistakes of the user about the port. */
  static List<String> mistakes(TemplateSettings settings) {
    if (settings.probePeriodSeconds().isEmpty()) {
      return List.of();
    }
    var found = new ArrayList<String>();
    for (String argument : arguments(settings.spec())) {
      if (OTHER_ADDRESS.matcher(argument).matches() && port(argument).isEmpty()) {
        found.add(
            ("spec.sidecars.livenessProbe.extraArgs: \"%s\" does not say where the probe listens in"
                    + " a way that the operator understands: use --health-port=NUMBER, in one"
                    + " argument")
                .formatted(argument));
      }
    }
    int highest = Math.max(nodePort(settings), controllerPort(settings));
    if (port(settings.spec()) < 1 || highest > LAST_PORT) {
      found.add(
          "spec.sidecars.livenessProbe.extraArgs: the probe would listen on port %d: use 1 to %d"
              .formatted(
                  highest > LAST_PORT ? highest : port(settings.spec()),
                  LAST_PORT - (highest - nodePort(settings))));
    }
    return found;
  }

  /** Adds the probe where the user enables it. */
  void addTo(PodSpec pod, int port) {
    driver
        .settings()
        .probePeriodSeconds()
        .ifPresent(
            period -> {
              Container first = pod.getContainers().getFirst();
              var ports = new ArrayList<>(first.getPorts());
              ports.add(Pods.port(SidecarContainers.PROBE, port));
              first.setPorts(ports);
              first.setLivenessProbe(probe(period));
              pod.getContainers().add(new SidecarContainers(driver).probe(first, port));
            });
  }

  private Probe probe(int period) {
    return new ProbeBuilder()
        .withNewHttpGet()
        .withPath("/healthz")
        .withPort(new IntOrString(SidecarContainers.PROBE))
        .endHttpGet()
        .withFailureThreshold(FAILURES)
        .withInitialDelaySeconds(period)
        .withPeriodSeconds(period)
        .withTimeoutSeconds(driver.settings().probeTimeoutSeconds())
        .build();
  }

  private static boolean usesHostNetwork(@Nullable JsonNode template) {
    return template != null && template.path("spec").path("hostNetwork").asBoolean();
  }
}
