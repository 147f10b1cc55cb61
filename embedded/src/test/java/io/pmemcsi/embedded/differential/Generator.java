package io.pmemcsi.embedded.differential;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Generates requests from a seed: several managers apply, patch and take over fields. */
final class Generator {
  private static final int STEPS = 25;

  private final Random random;

  private Generator(long seed) {
    random = new Random(seed);
  }

  static List<Scenario> scenarios(long seed, int count) {
    List<Scenario> scenarios = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long own = seed + i;
      scenarios.add(
          i % 2 == 0
              ? new Scenario("config maps from seed " + own, new Generator(own).configMaps())
              : new Scenario("deployments from seed " + own, new Generator(own).deployments()));
    }
    return scenarios;
  }

  private List<Step> configMaps() {
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < STEPS; i++) {
      String name = pick("a", "b");
      String path = "configmaps/" + name;
      steps.add(
          switch (random.nextInt(10)) {
            case 0 -> step("create", "configmaps", "", configMap(name));
            case 1 -> step("update", path, "", configMap(name));
            case 2, 3 ->
                step("merge", path, "", Json.without(configMap(name), "kind", "apiVersion"));
            case 4 ->
                random.nextInt(3) == 0
                    ? Step.of("delete", path)
                    : step("json", path, "", replaceData());
            default -> step("apply", path, force(), configMap(name));
          });
    }
    return steps;
  }

  private ObjectNode configMap(String name) {
    ObjectNode map = Json.object().put("apiVersion", "v1").put("kind", "ConfigMap");
    ObjectNode metadata = map.putObject("metadata").put("name", name);
    some(metadata, "labels", "l1", "l2", "l3");
    some(metadata, "annotations", "a1", "a2");
    some(map, "data", "k1", "k2", "k3", "k4");
    return map;
  }

  private JsonNode replaceData() {
    ArrayNode patch = Json.array();
    ObjectNode data = Json.object();
    some(data, "data", "k1", "k2", "k3");
    patch
        .addObject()
        .put("op", "add")
        .put("path", "/data")
        .set("value", data.has("data") ? data.get("data") : Json.object());
    return patch;
  }

  private List<Step> deployments() {
    List<Step> steps = new ArrayList<>();
    ObjectNode whole = deployment();
    ObjectNode spec = Json.child(whole, "spec");
    spec.putObject("selector").putObject("matchLabels").put("app", "d");
    ObjectNode template = Json.child(spec, "template");
    template.putObject("metadata").putObject("labels").put("app", "d");
    ArrayNode containers = Json.child(template, "spec").putArray("containers");
    containers.addObject().put("name", "one").put("image", "one:1");
    steps.add(step("create", "deployments", "", whole));
    for (int i = 0; i < STEPS; i++) {
      steps.add(
          switch (random.nextInt(8)) {
            case 0, 1 -> step("merge", "deployments/d", "", scalars());
            default -> step("apply", "deployments/d", force(), deployment());
          });
    }
    return steps;
  }

  private ObjectNode scalars() {
    ObjectNode patch = Json.object();
    some(Json.child(patch, "metadata"), "labels", "l1", "l2");
    Json.child(patch, "spec").put("replicas", 1 + random.nextInt(3));
    return patch;
  }

  private ObjectNode deployment() {
    ObjectNode deployment = Json.object().put("apiVersion", "apps/v1").put("kind", "Deployment");
    some(deployment.putObject("metadata").put("name", "d"), "labels", "l1", "l2");
    ObjectNode spec = deployment.putObject("spec");
    if (random.nextBoolean()) {
      spec.put("replicas", 1 + random.nextInt(2));
    }
    if (random.nextBoolean()) {
      spec.put("minReadySeconds", 1 + random.nextInt(2));
    }
    ObjectNode template = spec.putObject("template");
    some(template.putObject("metadata"), "annotations", "t1", "t2");
    ObjectNode pod = template.putObject("spec");
    ArrayNode containers = pod.putArray("containers");
    container(containers.addObject(), "one");
    if (random.nextBoolean()) {
      container(containers.addObject(), "two");
    }
    some(pod, "nodeSelector", "n1", "n2");
    if (random.nextBoolean()) {
      pod.putArray("tolerations").addObject().put("key", pick("x", "y")).put("operator", "Exists");
    }
    return deployment;
  }

  private ObjectNode container(ObjectNode container, String name) {
    container.put("name", name);
    container.put("image", pick("one:1", "one:2"));
    ArrayNode env = Json.array();
    for (String variable : List.of("A", "B", "C")) {
      if (random.nextBoolean()) {
        env.addObject().put("name", variable).put("value", pick("1", "2"));
      }
    }
    if (!env.isEmpty()) {
      container.set("env", env);
    }
    if (random.nextInt(3) == 0) {
      container.putArray("args").add(pick("-v", "-x"));
    }
    if (random.nextInt(3) == 0) {
      ArrayNode ports = container.putArray("ports");
      ports.addObject().put("containerPort", 80 + random.nextInt(2)).put("protocol", "TCP");
    }
    return container;
  }

  private void some(ObjectNode parent, String field, String... names) {
    ObjectNode values = Json.object();
    for (String name : names) {
      if (random.nextBoolean()) {
        values.put(name, pick("1", "2"));
      }
    }
    if (!values.isEmpty()) {
      parent.set(field, values);
    }
  }

  private Step step(String operation, String path, String query, JsonNode body) {
    return new Step(operation, path, pick("m1", "m2", "m3"), query, Optional.of(body), "", "");
  }

  private String force() {
    return random.nextInt(3) == 0 ? "force=true" : "";
  }

  private String pick(String... choices) {
    return choices[random.nextInt(choices.length)];
  }
}
