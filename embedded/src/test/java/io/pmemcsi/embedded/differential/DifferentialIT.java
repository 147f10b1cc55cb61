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
import io.pmemcsi.embedded.Options;
import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
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
 * The embedded API answers as a real API server of the version it knows does: same status, same
 * message, same object with the same managed fields, but for what {@link Normal} takes out and what
 * the table of scenarios excuses.
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
    kubernetes =
        EmbeddedKubernetes.start(Options.usual().withBookmarkEvery(Duration.ofMillis(500)));
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(kubernetes.url().toString())
            .withRequestRetryBackoffLimit(0)
            .build();
    embedded = new KubernetesClientBuilder().withConfig(config).build();
    // some refusals of the real one are 500, which a client would otherwise send again for 20 s
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
        .isGreaterThan(600);
  }

  @ParameterizedTest
  @Order(2)
  @MethodSource({"written", "generated"})
  void bothServersGiveTheSameAnswers(Scenario scenario, Sandbox sandbox) {
    compare(scenario, sandbox);
  }

  /** Comes last: other scenarios want no controllers that write to the same objects. */
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
        "the embedded API is compared with the version it knows");
    String namespace = sandbox.namespace();
    embedded
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
        .create();

    List<String> differences =
        new Comparison(
                // the cache of a kind that was just defined knows nothing older
                new Server(real, namespace, () -> {}),
                new Server(embedded, namespace, kubernetes.faults()::forgetHistory),
                namespace)
            .run(scenario);

    assertThat(differences).isEmpty();
  }
}
