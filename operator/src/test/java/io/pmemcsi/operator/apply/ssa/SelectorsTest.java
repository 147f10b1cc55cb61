package io.pmemcsi.operator.apply.ssa;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SelectorsTest {

  private final KubernetesSerialization serialization = new KubernetesSerialization();

  @Test
  void addedLabelsAreFoundInServicesPodsAndWebhooks() {
    assertThat(foreign("spec: {selector: {a: b}}", "spec: {selector: {a: b, x/y: z}}"))
        .containsExactly("/spec/selector/x~1y");
    assertThat(
            foreign(
                "spec: {template: {spec: {nodeSelector: {a: b}}}}",
                "spec: {template: {spec: {nodeSelector: {a: b, c: d}}}}"))
        .containsExactly("/spec/template/spec/nodeSelector/c");
    assertThat(
            foreign(
                "webhooks: [{name: w, objectSelector: {matchExpressions: [{key: k}]}}]",
                "webhooks: [{name: v}, {name: w, objectSelector:"
                    + " {matchExpressions: [{key: k}], matchLabels: {a: b}}}]"))
        .containsExactly("/webhooks/1/objectSelector/matchLabels");
  }

  @Test
  void selectorWhereNoneIsDesiredIsForeign() {
    assertThat(
            foreign(
                "spec: {template: {spec: {priorityClassName: p}}}",
                "spec: {template: {spec: {priorityClassName: p, nodeSelector: {c: d}}}}"))
        .containsExactly("/spec/template/spec/nodeSelector/c");
  }

  @Test
  void defaultsAndOtherFieldsAreNotForeign() {
    assertThat(foreign("spec: {selector: {a: b}}", "spec: {selector: {a: b}, more: {c: d}}"))
        .isEmpty();
    assertThat(foreign("webhooks: [{name: w}]", "webhooks: [{name: w, namespaceSelector: {}}]"))
        .isEmpty();
  }

  private List<String> foreign(String desired, String actual) {
    return Selectors.foreign(
        serialization.unmarshal(desired, Map.class), serialization.unmarshal(actual, Map.class));
  }
}
