package io.pmemcsi.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.embedded.fault.EventFault;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.RandomFaults;
import io.pmemcsi.embedded.fault.RequestFault;
import io.pmemcsi.embedded.fault.RequestFault.Moment;
import io.pmemcsi.embedded.fault.SeenEvent;
import io.pmemcsi.embedded.fault.SeenRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FaultsTest {
  private EmbeddedKubernetes kubernetes;
  private Http http;

  @BeforeEach
  void start() {
    kubernetes =
        EmbeddedKubernetes.start(Options.usual().withBookmarkEvery(Duration.ofMillis(100)));
    http = new Http(kubernetes.url());
  }

  @AfterEach
  void stop() {
    kubernetes.close();
  }

  private void onWrites(RequestFault fault) {
    kubernetes
        .faults()
        .follow(
            new FaultPlan() {
              @Override
              public RequestFault onRequest(SeenRequest request) {
                return request.write() ? fault : RequestFault.NONE;
              }
            });
  }

  private void onEvents(Function<SeenEvent, EventFault> plan) {
    kubernetes
        .faults()
        .follow(
            new FaultPlan() {
              @Override
              public EventFault onEvent(SeenEvent event) {
                return plan.apply(event);
              }
            });
  }

  @Test
  void aWriteThatFailsBeforeItsEffectHasNone() throws Exception {
    onWrites(new RequestFault.Fail(503, Moment.BEFORE));

    assertThat(http.createConfigMap("a").code()).isEqualTo(503);
    assertThat(http.configMaps()).isEmpty();
  }

  @Test
  void aWriteThatFailsAfterItsEffectHasHappened() throws Exception {
    onWrites(new RequestFault.Fail(500, Moment.AFTER));

    assertThat(http.createConfigMap("a").code()).isEqualTo(500);
    assertThat(http.configMaps()).containsExactly("a");
  }

  @Test
  void aConnectionCanBeCutBeforeAndAfterTheEffect() throws Exception {
    onWrites(new RequestFault.Cut(Moment.BEFORE));
    assertThatThrownBy(() -> http.createConfigMap("a")).isInstanceOf(IOException.class);

    onWrites(new RequestFault.Cut(Moment.AFTER));
    assertThatThrownBy(() -> http.createConfigMap("b")).isInstanceOf(IOException.class);

    assertThat(http.configMaps()).containsExactly("b");
  }

  @Test
  void aReadCanShowThePast() throws Exception {
    http.createConfigMap("a");
    http.createConfigMap("b");
    kubernetes
        .faults()
        .follow(
            new FaultPlan() {
              @Override
              public RequestFault onRequest(SeenRequest request) {
                return new RequestFault.Stale(1);
              }
            });

    assertThat(http.configMaps()).containsExactly("a");
  }

  @Test
  void eventsCanBeLostDoubledHeldBackAndCut() throws Exception {
    onEvents(
        event ->
            switch (event.name()) {
              case "lost" -> new EventFault.Drop();
              case "twice" -> new EventFault.Duplicate();
              case "late" -> new EventFault.HoldBack();
              case "cut" -> new EventFault.Cut();
              default -> EventFault.NONE;
            });
    List<String> events = http.watchConfigMaps("");
    for (String name : List.of("lost", "twice", "late", "plain", "cut")) {
      http.createConfigMap(name);
    }

    await()
        .untilAsserted(
            () ->
                assertThat(events)
                    .containsExactly(
                        "ADDED twice", "ADDED twice", "ADDED plain", "ADDED late", "CUT"));
  }

  @Test
  void everybodyIsCutOffAtTheNthWriteUntilReleased() throws Exception {
    List<String> seen = new ArrayList<>();
    kubernetes.faults().onWrite(write -> seen.add(write.toString()));
    List<String> events = http.watchConfigMaps("");
    kubernetes.faults().cutOffAtWrite(2, Moment.AFTER);

    http.createConfigMap("a");
    assertThatThrownBy(() -> http.createConfigMap("b")).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> http.createConfigMap("c")).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> http.configMaps()).isInstanceOf(IOException.class);
    await().untilAsserted(() -> assertThat(events).endsWith("CUT"));

    kubernetes.faults().release();

    assertThat(http.configMaps()).containsExactly("a", "b");
    assertThat(seen).containsExactly("create configmaps default/", "create configmaps default/");
  }

  @Test
  void aWatchFromAForgottenPastIsGone() throws Exception {
    http.createConfigMap("a");
    kubernetes.faults().forgetHistory();

    List<String> events = http.watchConfigMaps("resourceVersion=2");

    await().untilAsserted(() -> assertThat(events).containsExactly("ERROR 410", "END"));
  }

  @Test
  void anIdleWatchIsToldHowFarItIs() throws Exception {
    List<String> events = http.watchConfigMaps("allowWatchBookmarks=true&timeoutSeconds=1");

    await().untilAsserted(() -> assertThat(events).contains("BOOKMARK").endsWith("END"));
  }

  @Test
  void aWatchWithASelectorSeesObjectsComeAndGo() throws Exception {
    http.createConfigMap("other");
    List<String> events = http.watchConfigMaps("fieldSelector=metadata.name%3Da");
    http.createConfigMap("a");
    http.setData("other", "x");
    http.setData("a", "1");

    await().untilAsserted(() -> assertThat(events).containsExactly("ADDED a", "MODIFIED a 1"));
  }

  @Test
  void aWriteThatChangesNothingIsNoEvent() throws Exception {
    http.createConfigMap("a");
    String version = http.setData("a", "1").body().at("/metadata/resourceVersion").asText();
    List<String> events = http.watchConfigMaps("resourceVersion=" + version);

    String again = http.setData("a", "1").body().at("/metadata/resourceVersion").asText();
    http.setData("a", "2");

    assertThat(again).isEqualTo(version);
    await().untilAsserted(() -> assertThat(events).containsExactly("MODIFIED a 2"));
  }

  @Test
  void requestsAreRecorded() throws Exception {
    http.createConfigMap("a");
    kubernetes.requests().clear();

    http.configMaps();
    http.setData("a", "1");

    assertThat(kubernetes.requests().all()).hasSize(2);
    assertThat(kubernetes.requests().writes())
        .extracting(SeenRequest::toString)
        .containsExactly("patch configmaps default/a");
  }

  @Test
  void faultsFromTheSameSeedAreTheSame() {
    assertThat(drawn(1)).isEqualTo(drawn(1)).isNotEqualTo(drawn(2));
    assertThat(drawn(1)).anyMatch(fault -> !fault.equals(RequestFault.NONE));
  }

  private static List<RequestFault> drawn(long seed) {
    FaultPlan plan = new RandomFaults(seed, 300, 0);
    List<RequestFault> faults = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      faults.add(
          plan.onRequest(
              new SeenRequest(i, "patch", "apps", "daemonsets", "n", "d", "", "", Map.of())));
    }
    return faults;
  }
}
