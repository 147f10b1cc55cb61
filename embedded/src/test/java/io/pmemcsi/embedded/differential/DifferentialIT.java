package io.pmemcsi.embedded.differential;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The embedded API answers as a real API server of the version it knows does: same status, same
 * message, same object with the same managed fields, but for what {@link Normal} takes out and what
 * the table of scenarios excuses.
 */
@WithKubernetes(controllers = false)
class DifferentialIT {
  private static final int GENERATED = Boolean.getBoolean("pmem-csi.campaign") ? 400 : 12;
  private static final long SEED = Long.getLong("differential.seed", 20L);

  private static EmbeddedKubernetes kubernetes;
  private static KubernetesClient embedded;

  @BeforeAll
  static void start() {
    kubernetes = EmbeddedKubernetes.start();
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(kubernetes.url().toString())
            .withRequestRetryBackoffLimit(0)
            .build();
    embedded = new KubernetesClientBuilder().withConfig(config).build();
  }

  @AfterAll
  static void stop() {
    embedded.close();
    kubernetes.close();
  }

  static Stream<Scenario> written() {
    return Scenario.read("scenarios.yaml").stream();
  }

  static Stream<Scenario> generated() {
    return Generator.scenarios(SEED, GENERATED).stream();
  }

  @ParameterizedTest
  @MethodSource({"written", "generated"})
  void bothServersGiveTheSameAnswers(Scenario scenario, Sandbox sandbox, KubernetesClient real) {
    assumeTrue(
        sandbox.version().toString().equals("1.20"),
        "the embedded API is compared with the version it knows");
    String namespace = sandbox.namespace();
    embedded
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
        .create();

    List<String> differences =
        new Comparison(new Server(real, namespace), new Server(embedded, namespace), namespace)
            .run(scenario);

    assertThat(differences).isEmpty();
  }
}
