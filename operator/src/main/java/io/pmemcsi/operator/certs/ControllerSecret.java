package io.pmemcsi.operator.certs;

import io.pmemcsi.base.names.DriverName;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The secret of a controller that is installed without the operator. */
public final class ControllerSecret {

  private ControllerSecret() {}

  /**
   * Issues a certificate by a new CA and writes the secret as YAML, ready for {@code kubectl
   * apply}.
   *
   * @param extraNames further names by which the controller is called
   * @throws IllegalArgumentException if one of the names is none
   */
  public static String yaml(
      DriverName driver,
      String namespace,
      List<String> extraNames,
      Duration validity,
      Instant now) {
    String prefix = driver.hyphenated();
    var names = new ArrayList<String>();
    names.add("%s-scheduler.%s.svc".formatted(prefix, namespace));
    names.add("%s-webhook.%s.svc".formatted(prefix, namespace));
    names.add("127.0.0.1");
    names.addAll(extraNames);
    var decision =
        new RenewalPlan(names, validity, validity.dividedBy(2)).decide(Map.of(), Map.of(), now);
    String data =
        decision.serverSecret().entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(entry -> "  %s: %s\n".formatted(entry.getKey(), entry.getValue()))
            .collect(Collectors.joining());
    return """
    # valid until %s, for %s
    # caBundle of the MutatingWebhookConfiguration, and caData of the extender in the configuration of kube-scheduler:
    # %s
    apiVersion: v1
    kind: Secret
    metadata:
      name: %s-controller-secret
      namespace: %s
    type: kubernetes.io/tls
    data:
    %s"""
        .formatted(
            decision.expires(),
            String.join(", ", names),
            decision.bundle(),
            prefix,
            namespace,
            data);
  }
}
