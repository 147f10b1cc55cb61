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
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class FaultsTest {
  private static final Duration LATE = Duration.ofMillis(200);
  private static final String DEFINITIONS =
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  private static final String DEFINITION =
      """
      {"metadata": {"name": "things.example.com"},
       "spec": {
         "group": "example.com",
         "scope": "Cluster",
         "names": {"kind": "Thing", "plural": "things"},
         "versions": [
           {"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object"}}}]}}
      """;

  private EmbeddedKubernetes kubernetes;
  private Http http;

  @BeforeEach
  void start() {
    kubernetes = EmbeddedKubernetes.start();
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

  private void onPages(RequestFault fault) {
    kubernetes
        .faults()
        .follow(
            new FaultPlan() {
              @Override
              public RequestFault onRequest(SeenRequest request) {
                return request.page() ? fault : RequestFault.NONE;
              }
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"/api/v1", "/apis", "/apis/apps/v1", "/version"})
  void discoveryCanFailAndBeCutAndComeLate(String path) throws Exception {
    onPages(new RequestFault.Fail(503, Moment.BEFORE));
    assertThat(http.get(path).code()).isEqualTo(503);
    assertThat(http.configMaps()).isEmpty();

    onPages(new RequestFault.Cut(Moment.BEFORE));
    assertThatThrownBy(() -> http.get(path)).isInstanceOf(IOException.class);

    onPages(new RequestFault.Delay(LATE));
    long start = System.nanoTime();
    assertThat(http.get(path).code()).isEqualTo(200);
    assertThat(since(start)).isGreaterThanOrEqualTo(LATE);
  }

  @Test
  void discoveryCanShowThePast() throws Exception {
    assertThat(http.send("POST", DEFINITIONS, "application/json", DEFINITION).code())
        .isEqualTo(201);
    assertThat(http.get("/apis/example.com/v1").code()).isEqualTo(200);
    onPages(new RequestFault.Stale(100));

    assertThat(http.get("/apis").body().toString()).doesNotContain("example.com");
  }

  @Test
  void aSeedLeavesDiscoveryAlone() {
    FaultPlan plan = new RandomFaults(1, 1000, 0);

    assertThat(IntStream.range(0, 50).mapToObj(i -> SeenRequest.ofPage(i, "GET", "/apis")))
        .allMatch(request -> plan.onRequest(request).equals(RequestFault.NONE));
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

  @ParameterizedTest
  @EnumSource(Moment.class)
  void aRequestCanBeCarriedOutOrAnsweredLate(Moment moment) throws Exception {
    onWrites(new RequestFault.Delay(LATE, moment));
    long start = System.nanoTime();

    assertThat(http.createConfigMap("a").code()).isEqualTo(201);

    assertThat(since(start)).isGreaterThanOrEqualTo(LATE);
    assertThat(http.configMaps()).containsExactly("a");
  }

  @Test
  void answersCanComeInAnotherOrderThanTheChanges() throws Exception {
    var answer = new CountDownLatch(1);
    onWrites(new RequestFault.Hold(answer));
    CompletableFuture<Integer> first =
        CompletableFuture.supplyAsync(() -> codeOf("first"), Thread::startVirtualThread);
    await().untilAsserted(() -> assertThat(http.configMaps()).containsExactly("first"));
    kubernetes.faults().clear();

    assertThat(http.createConfigMap("second").code()).isEqualTo(201);
    assertThat(first).isNotDone();

    answer.countDown();
    await().untilAsserted(() -> assertThat(first).isCompletedWithValue(201));
  }

  private int codeOf(String name) {
    try {
      return http.createConfigMap(name).code();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void anEventAndAllAfterItCanComeLate() throws Exception {
    onEvents(event -> event.name().equals("late") ? new EventFault.Delay(LATE) : EventFault.NONE);
    List<String> events = http.watchConfigMaps("");
    long start = System.nanoTime();
    http.createConfigMap("late");
    http.createConfigMap("next");

    await().untilAsserted(() -> assertThat(events).containsExactly("ADDED late", "ADDED next"));

    assertThat(since(start)).isGreaterThanOrEqualTo(LATE);
  }

  private static Duration since(long start) {
    return Duration.ofNanos(System.nanoTime() - start);
  }

  @Test
  void aSeedLosesAndReordersEventsOnlyIfAskedTo() {
    assertThat(drawnForEvents(RandomFaults.lossy(1, 0, 500)))
        .isEqualTo(drawnForEvents(RandomFaults.lossy(1, 0, 500)))
        .isNotEqualTo(drawnForEvents(RandomFaults.lossy(2, 0, 500)))
        .contains(new EventFault.Drop(), new EventFault.HoldBack());
    assertThat(drawnForEvents(new RandomFaults(1, 0, 500)))
        .contains(new EventFault.Duplicate(), new EventFault.Cut())
        .doesNotContain(new EventFault.Drop(), new EventFault.HoldBack());
  }

  private static List<EventFault> drawnForEvents(FaultPlan plan) {
    return IntStream.range(0, 200).mapToObj(i -> plan.onEvent(added("c", 1, i))).toList();
  }

  private static SeenEvent added(String name, long watch, long revision) {
    return new SeenEvent(watch, "", "ADDED", "", "configmaps", "n", name, revision);
  }

  @Test
  void aSeedDrawsTheSameForAnEventWhateverTheOrderOfThreadsMadeOfItsNumbers() {
    List<String> names = IntStream.range(0, 50).mapToObj(i -> "c" + i).toList();
    FaultPlan plan = RandomFaults.lossy(1, 0, 500);
    Map<String, EventFault> drawn = new HashMap<>();
    names.forEach(name -> drawn.put(name, plan.onEvent(added(name, 1, drawn.size()))));

    FaultPlan again = RandomFaults.lossy(1, 0, 500);
    Map<String, EventFault> drawnAgain = new HashMap<>();
    names
        .reversed()
        .forEach(name -> drawnAgain.put(name, again.onEvent(added(name, 7, drawnAgain.size()))));

    assertThat(drawnAgain).isEqualTo(drawn);
    assertThat(Set.copyOf(drawn.values())).hasSizeGreaterThan(3);
  }

  @Test
  void aSeedDrawsTheSameForAWatchWhateverWatchesWithOtherSelectionsSee() {
    FaultPlan alone = RandomFaults.lossy(1, 0, 500);
    FaultPlan busy = RandomFaults.lossy(1, 0, 500);
    for (int i = 0; i < 50; i++) {
      busy.onEvent(new SeenEvent(2, "n/ app=d", "ADDED", "", "configmaps", "n", "c", i));

      assertThat(busy.onEvent(added("c", 3, i))).isEqualTo(alone.onEvent(added("c", 1, i)));
    }
  }

  @Test
  void anEventSaysWhatItsWatchSelects() throws Exception {
    List<String> seen = new CopyOnWriteArrayList<>();
    onEvents(
        event -> {
          seen.add(event.toString());
          return EventFault.NONE;
        });
    http.watchConfigMaps("fieldSelector=metadata.name%3Da");
    http.createConfigMap("a");

    await()
        .untilAsserted(
            () ->
                assertThat(seen)
                    .containsExactly("ADDED configmaps default/a default/ metadata.name=a"));
  }

  @Test
  void whatALossySeedDrawsHappensToTheWatch() throws Exception {
    FaultPlan lossy = RandomFaults.lossy(1, 0, 500);
    List<String> expected = new CopyOnWriteArrayList<>();
    List<String> held = new CopyOnWriteArrayList<>();
    onEvents(
        event -> {
          EventFault drawn = event.name().equals("end") ? EventFault.NONE : lossy.onEvent(event);
          String shown = event.type() + " " + event.name();
          switch (drawn) {
            case EventFault.Cut _ -> {
              return new EventFault.Drop();
            }
            case EventFault.Drop _ -> {}
            case EventFault.HoldBack _ -> held.add(shown);
            case EventFault.Duplicate _ -> {
              expected.addAll(List.of(shown, shown));
              expected.addAll(held);
              held.clear();
            }
            case EventFault.Delay _ -> {
              expected.add(shown);
              expected.addAll(held);
              held.clear();
            }
          }
          return drawn;
        });
    List<String> events = http.watchConfigMaps("");
    for (int i = 0; i < 40; i++) {
      http.createConfigMap("c" + i);
    }
    http.createConfigMap("end");

    await().untilAsserted(() -> assertThat(events).contains("ADDED end").isEqualTo(expected));
    assertThat(held).isEmpty();
  }

  @Test
  void allClientsAreDisconnectedAtTheNthWriteUntilReleased() throws Exception {
    List<String> seen = new CopyOnWriteArrayList<>();
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
  void watchFromADroppedRevisionExpires() throws Exception {
    http.createConfigMap("a");
    kubernetes.faults().forgetHistory();

    List<String> events = http.watchConfigMaps("resourceVersion=2");

    await().untilAsserted(() -> assertThat(events).containsExactly("ERROR 410", "END"));
  }

  /** A watch at that revision may have lost events before it. */
  @Test
  void watchFromTheLastDroppedRevisionExpiresToo() throws Exception {
    http.createConfigMap("lost");
    List<String> open = http.watchConfigMaps("resourceVersion=" + http.revision());
    http.createConfigMap("a");
    await().untilAsserted(() -> assertThat(open).containsExactly("ADDED a"));
    String last = http.revision();
    kubernetes.faults().forgetHistory();

    List<String> events = http.watchConfigMaps("resourceVersion=" + last);

    await().untilAsserted(() -> assertThat(events).containsExactly("ERROR 410", "END"));
    http.createConfigMap("b");
    await().untilAsserted(() -> assertThat(open).containsExactly("ADDED a", "ADDED b"));
    List<String> restarted = http.watchConfigMaps("resourceVersion=" + http.revision());
    http.createConfigMap("c");
    await().untilAsserted(() -> assertThat(restarted).containsExactly("ADDED c"));
  }

  @Test
  void aWatchEndsWhenItsTimeIsOver() throws Exception {
    List<String> events = http.watchConfigMaps("timeoutSeconds=1");

    await().untilAsserted(() -> assertThat(events).containsExactly("END"));
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
    http.get("/apis/apps/v1");
    http.setData("a", "1");

    assertThat(kubernetes.requests().all())
        .extracting(SeenRequest::toString)
        .containsExactly(
            "list configmaps default/", "get /apis/apps/v1", "patch configmaps default/a");
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
