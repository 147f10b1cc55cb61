package io.pmemcsi.controller;

import static io.pmemcsi.controller.SchedulingWorld.GIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real API server calls the webhook. */
class WebhookIT {

  private static final Map<String, String> IGNORE = Map.of("pmem-csi.intel.com/webhook", "ignore");

  @TempDir Path certificates;
  private SchedulingWorld world;

  @BeforeEach
  void start() {
    world = new SchedulingWorld(certificates);
    world.controller(0);
    world.webhook(world.port(), "Fail");
    await().until(() -> isMarked(dryRun(inline("probe"))));
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void podsWithVolumesOfTheDriverAreMarkedAndOthersAreNot() {
    world.client.resource(world.claim("late", GIB)).create();

    assertThat(isMarked(dryRun(world.pod("new-claim", "late")))).isTrue();
    assertThat(isMarked(dryRun(world.pod("without")))).isFalse();
    assertThat(isMarked(dryRun(world.pod("no-claim-yet", "nothing")))).isFalse();
    assertThat(isMarked(dryRun(labelled(inline("ignored"))))).isFalse();
  }

  @Test
  void labelledPodsAndNamespacesDoNotNeedTheWebhook() {
    world.controller.close();

    assertThatThrownBy(() -> dryRun(world.pod("plain")))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("pod-hook.pmem-csi.intel.com");
    assertThat(dryRun(labelled(world.pod("labelled")))).isNotNull();
    world
        .client
        .namespaces()
        .withName(world.sandbox.namespace())
        .edit(
            namespace -> namespace.edit().editMetadata().addToLabels(IGNORE).endMetadata().build());
    await()
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> dryRun(world.pod("plain")) != null);
  }

  private Pod inline(String name) {
    return world
        .pod(name)
        .edit()
        .editSpec()
        .addNewVolume()
        .withName("inline")
        .withNewCsi()
        .withDriver(world.driver.value())
        .endCsi()
        .endVolume()
        .endSpec()
        .build();
  }

  private static Pod labelled(Pod pod) {
    return pod.edit().editMetadata().addToLabels(IGNORE).endMetadata().build();
  }

  private Pod dryRun(Pod pod) {
    return world.client.resource(pod).dryRun().create();
  }

  private boolean isMarked(Pod pod) {
    var resources = pod.getSpec().getContainers().getFirst().getResources();
    String name = world.driver + "/scheduler";
    return resources != null
        && resources.getLimits() != null
        && resources.getLimits().containsKey(name)
        && resources.getRequests().containsKey(name);
  }
}
