package io.pmemcsi.controller;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The configurations of kube-scheduler that are shipped; SchedulingIT runs the one for its
 * scheduler.
 */
class SchedulerConfigurationTest {

  @ParameterizedTest
  @ValueSource(strings = {"v1beta1", "v1beta2", "v1beta3", "v1"})
  void eachVerifiesTheControllerAndAsksWithNamesOnly(String version) throws IOException {
    Path file = Path.of("..", "deploy", "scheduler", version + ".yaml");
    JsonNode configuration = Serialization.unmarshal(Files.readString(file), JsonNode.class);

    assertThat(configuration.get("apiVersion").asText())
        .isEqualTo("kubescheduler.config.k8s.io/" + version);
    JsonNode extender = configuration.get("extenders").get(0);
    assertThat(extender.get("nodeCacheCapable").asBoolean()).isTrue();
    assertThat(extender.get("enableHTTPS").asBoolean()).isTrue();
    assertThat(extender.get("tlsConfig").has("caData")).isTrue();
    assertThat(extender.get("filterVerb").asText()).isEqualTo("filter");
    assertThat(extender.get("prioritizeVerb").asText()).isEqualTo("prioritize");
    assertThat(extender.get("managedResources").get(0).get("ignoredByScheduler").asBoolean())
        .isTrue();
  }
}
