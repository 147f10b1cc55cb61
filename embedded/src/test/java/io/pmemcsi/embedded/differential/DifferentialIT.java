package io.pmemcsi.embedded.differential;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The embedded API responds as a real API server of version 1.20 does: same status code and reason,
 * same object with the same managed fields, except for what {@link Normal} removes and what the
 * scenarios excuse.
 */
@WithKubernetes(controllers = false)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DifferentialIT {
  private static final int GENERATED = Boolean.getBoolean("pmem-csi.campaign") ? 400 : 12;
  private static final long SEED = Long.getLong("pmem-csi.differential.seed", 20L);

  private static EmbeddedKubernetes kubernetes;
  private static KubernetesClient embedded;
  private static KubernetesClient real;

  @BeforeAll
  static void start(Cluster cluster) {
    kubernetes = EmbeddedKubernetes.start();
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(kubernetes.url().toString())
            .withRequestRetryBackoffLimit(0)
            .build();
    embedded = new KubernetesClientBuilder().withConfig(config).build();
    // the real server refuses some requests with 500, which a client retries for 20 s
    real =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder(cluster.admin().getConfiguration())
                    .withRequestRetryBackoffLimit(0)
                    .build())
            .build();
  }

  @AfterAll
  static void stop() {
    real.close();
    embedded.close();
    kubernetes.close();
  }

  static Stream<Scenario> written() {
    return Scenario.read("scenarios.yaml").stream();
  }

  static Stream<Scenario> generated() {
    return Generator.scenarios(SEED, GENERATED).stream();
  }

  static Stream<Scenario> garbage() {
    return Scenario.read("garbage.yaml").stream();
  }

  @Test
  @Order(1)
  void thereAreHundredsOfOperations() {
    assertThat(
            Stream.of(written(), generated(), garbage())
                .flatMap(scenarios -> scenarios)
                .mapToInt(scenario -> scenario.steps().size())
                .sum())
        .isGreaterThan(400);
  }

  @ParameterizedTest
  @Order(2)
  @MethodSource({"written", "generated"})
  void bothServersRespondTheSame(Scenario scenario, Sandbox sandbox) {
    compare(scenario, sandbox);
  }

  /** Runs last: in other scenarios controllers must not write to the same objects. */
  @ParameterizedTest
  @Order(3)
  @MethodSource("garbage")
  void bothServersCollectTheSameGarbage(Scenario scenario, Sandbox sandbox) {
    try {
      sandbox.cluster().startControllers();
    } catch (Binaries.MissingProgramException e) {
      abort(String.valueOf(e.getMessage()));
    }
    compare(scenario, sandbox);
  }

  private static void compare(Scenario scenario, Sandbox sandbox) {
    assumeTrue(
        sandbox.version().toString().equals("1.20"),
        "the embedded API is compared with version 1.20 only");
    String namespace = sandbox.namespace();
    embedded
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
        .create();

    List<String> differences =
        new Comparison(
                // the watch cache of a new kind has no history
                new Server(real, namespace, () -> {}),
                new Server(embedded, namespace, kubernetes.faults()::forgetHistory),
                namespace)
            .run(scenario);

    assertThat(differences).isEmpty();
  }
}
