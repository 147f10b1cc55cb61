package io.pmemcsi.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SelectorsTest {

  private final KubernetesSerialization serialization = new KubernetesSerialization();

  @Test
  void addedLabelsAreFoundInServicesPodsAndWebhooks() {
    assertThat(surplus("spec: {selector: {a: b}}", "spec: {selector: {a: b, x/y: z}}"))
        .containsExactly("/spec/selector/x~1y");
    assertThat(
            surplus(
                "spec: {template: {spec: {nodeSelector: {a: b}}}}",
                "spec: {template: {spec: {nodeSelector: {a: b, c: d}}}}"))
        .containsExactly("/spec/template/spec/nodeSelector/c");
    assertThat(
            surplus(
                "webhooks: [{name: w, objectSelector: {matchExpressions: [{key: k}]}}]",
                "webhooks: [{name: v}, {name: w, objectSelector:"
                    + " {matchExpressions: [{key: k}], matchLabels: {a: b}}}]"))
        .containsExactly("/webhooks/1/objectSelector/matchLabels");
  }

  @Test
  void selectorWhereNoneIsWantedIsSurplus() {
    assertThat(
            surplus(
                "spec: {template: {spec: {priorityClassName: p}}}",
                "spec: {template: {spec: {priorityClassName: p, nodeSelector: {c: d}}}}"))
        .containsExactly("/spec/template/spec/nodeSelector/c");
  }

  @Test
  void defaultsAndOtherFieldsAreNot() {
    assertThat(surplus("spec: {selector: {a: b}}", "spec: {selector: {a: b}, more: {c: d}}"))
        .isEmpty();
    assertThat(surplus("webhooks: [{name: w}]", "webhooks: [{name: w, namespaceSelector: {}}]"))
        .isEmpty();
  }

  private List<String> surplus(String wanted, String actual) {
    return Selectors.surplus(
        serialization.unmarshal(wanted, Map.class), serialization.unmarshal(actual, Map.class));
  }
}
