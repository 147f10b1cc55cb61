package io.pmemcsi.embedded.differential;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.RequestFault;
import io.pmemcsi.embedded.fault.RequestFault.Moment;
import io.pmemcsi.embedded.fault.SeenRequest;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Compares the embedded API with itself; one of the two can be made to fail. */
class ComparisonTest {
  private final EmbeddedKubernetes one = EmbeddedKubernetes.start();
  private final EmbeddedKubernetes other = EmbeddedKubernetes.start();
  private final KubernetesClient toOne = client(one);
  private final KubernetesClient toOther = client(other);

  private static KubernetesClient client(EmbeddedKubernetes server) {
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(server.url().toString())
            .withRequestRetryBackoffLimit(0)
            .build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  @AfterEach
  void stop() {
    toOne.close();
    toOther.close();
    one.close();
    other.close();
  }

  private List<String> compare(String excuse) {
    Step step = new Step("list", "configmaps", "", "", Optional.empty(), "", excuse);
    return new Comparison(
            new Server(toOne, "default", () -> {}),
            new Server(toOther, "default", () -> {}),
            "default")
        .run(new Scenario("test", List.of(step)));
  }

  private void fail(EmbeddedKubernetes server, int code) {
    server
        .faults()
        .follow(
            new FaultPlan() {
              @Override
              public RequestFault onRequest(SeenRequest request) {
                return new RequestFault.Fail(code, Moment.BEFORE);
              }
            });
  }

  @Test
  void sameAnswersNeedNoExcuse() {
    assertThat(compare("")).isEmpty();
    assertThat(compare("an old excuse")).anyMatch(line -> line.contains("remove the excuse"));
  }

  @Test
  void anExcuseIsForTheBodyAndNotForTheStatus() {
    fail(other, 403);

    assertThat(compare("an excuse"))
        .containsExactly("test, step 1: list configmaps", "    status: real 200, embedded 403");
  }
}
