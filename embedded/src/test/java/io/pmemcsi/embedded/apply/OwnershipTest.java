package io.pmemcsi.embedded.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type.Struct;
import io.pmemcsi.embedded.schema.TypeTable;
import org.junit.jupiter.api.Test;

class OwnershipTest {
  private static final Struct CONFIG_MAP = TypeTable.read(false).type("ConfigMap");
  private static final Struct POD = TypeTable.read(false).type("Pod");

  private static Ownership by(String manager) {
    return new Ownership(CONFIG_MAP, "v1", manager, "2026-01-01T00:00:00Z");
  }

  private static ObjectNode map(String data) {
    return (ObjectNode)
        Json.parse("{'metadata': {'name': 'a'}, 'data': %s}".formatted(data).replace('\'', '"'));
  }

  private static ObjectNode empty() {
    return (ObjectNode) Json.parse("{\"metadata\": {}}");
  }

  private static ObjectNode apply(String manager, ObjectNode live, String data, boolean force) {
    return by(manager).apply(empty(), live, map(data), force);
  }

  private static String fields(ObjectNode object, int manager) {
    return Json.at(object, "metadata", "managedFields").path(manager).path("fieldsV1").toString();
  }

  @Test
  void firstApplierOwnsTheAppliedFields() {
    ObjectNode object = apply("m1", empty(), "{'k': 'v'}", false);

    assertThat(fields(object, 0)).isEqualTo("{\"f:data\":{\"f:k\":{}}}");
    assertThat(Json.text(object, "data", "k")).isEqualTo("v");
  }

  @Test
  void twoAppliersOfTheSameValueShareIt() {
    ObjectNode first = apply("m1", empty(), "{'k': 'v'}", false);

    ObjectNode second = apply("m2", first, "{'k': 'v'}", false);

    assertThat(fields(second, 0)).isEqualTo(fields(second, 1));
  }

  @Test
  void differentValueIsAConflictUnlessForced() {
    ObjectNode first = apply("m1", empty(), "{'k': 'v', 'l': 'w'}", false);

    assertThatThrownBy(() -> apply("m2", first, "{'k': 'x'}", false))
        .isInstanceOf(ApplyConflictException.class)
        .hasMessage("Apply failed with 1 conflict: conflict with \"m1\": .data.k");
    assertThatThrownBy(() -> apply("m2", first, "{'k': 'x', 'l': 'x'}", false))
        .hasMessage(
            "Apply failed with 2 conflicts: conflict with \"m1\": .data.k, conflict with \"m1\":"
                + " .data.l");
    ObjectNode forced = apply("m2", first, "{'k': 'x'}", true);
    assertThat(fields(forced, 0)).isEqualTo("{\"f:data\":{\"f:l\":{}}}");
    assertThat(Json.text(forced, "data", "k")).isEqualTo("x");
  }

  @Test
  void fieldThatIsNoLongerAppliedIsRemovedUnlessAnotherManagerOwnsIt() {
    ObjectNode first = apply("m1", empty(), "{'k': 'v', 'l': 'w'}", false);
    ObjectNode shared = apply("m2", first, "{'l': 'w'}", false);

    ObjectNode left = apply("m1", shared, "{'m': 'x'}", false);

    assertThat(left.path("data").toString()).isEqualTo("{\"l\":\"w\",\"m\":\"x\"}");
  }

  @Test
  void updateTakesOverTheChangedFields() {
    ObjectNode first = apply("m1", empty(), "{'k': 'v', 'l': 'w'}", false);
    Json.child(first, "metadata").put("uid", "u");
    ObjectNode changed = first.deepCopy();
    Json.child(changed, "data").put("k", "changed");

    ObjectNode updated = by("editor").update(first, changed);

    assertThat(fields(updated, 0)).isEqualTo("{\"f:data\":{\"f:l\":{}}}");
    assertThat(fields(updated, 1)).isEqualTo("{\"f:data\":{\"f:k\":{}}}");
  }

  @Test
  void updateWithoutChangesTakesOverNothing() {
    ObjectNode first = apply("m1", empty(), "{'k': 'v'}", false);
    Json.child(first, "metadata").put("uid", "u");

    assertThat(by("editor").update(first, first.deepCopy())).isEqualTo(first);
  }

  @Test
  void containersAreMergedByNameAndArgumentsReplaced() {
    Ownership m1 = new Ownership(POD, "v1", "m1", "2026-01-01T00:00:00Z");
    Ownership m2 = new Ownership(POD, "v1", "m2", "2026-01-01T00:00:00Z");
    ObjectNode first = m1.apply(empty(), empty(), pod("{'name':'a','args':['x']}"), false);

    ObjectNode second =
        m2.apply(empty(), first, pod("{'name':'a','image':'i'},{'name':'b'}"), false);

    assertThat(Json.at(second, "spec", "containers").toString())
        .isEqualTo("[{\"name\":\"a\",\"args\":[\"x\"],\"image\":\"i\"},{\"name\":\"b\"}]");
    assertThatThrownBy(() -> m2.apply(empty(), second, pod("{'name':'a','args':['y']}"), false))
        .hasMessageContaining(".spec.containers[name=\"a\"].args");
  }

  private static ObjectNode pod(String containers) {
    return (ObjectNode)
        Json.parse("{'spec': {'containers': [%s]}}".formatted(containers).replace('\'', '"'));
  }
}
