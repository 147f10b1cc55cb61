package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.pmemcsi.api.pmem.LostNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LostNodesTest {

  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final Optional<Duration> DAY = Optional.of(Duration.ofDays(1));
  private static final Optional<Duration> NEVER = Optional.empty();

  @Test
  void nodesAreReportedWithWhatIsBoundToThem() {
    LostNodes decided =
        decide(
            List.of(
                volume("b", "gone").usedBy(List.of("ns/pod")),
                volume("a", "gone").usedBy(List.of("ns/pod")),
                unbound("c", "gone", true),
                volume("d", "also-gone")),
            List.of(),
            NEVER,
            NOW);
    assertThat(decided.report())
        .containsExactly(
            new LostNode("also-gone", NOW, bound("d"), bound("ns/d"), bound()),
            new LostNode(
                "gone", NOW, bound("a", "b", "c"), bound("ns/a", "ns/b"), bound("ns/pod")));
    assertThat(decided.due()).isEmpty();
  }

  @Test
  void theReportIsBounded() {
    List<LostVolume> onOneNode =
        IntStream.range(0, 20).mapToObj(i -> volume("v" + i, "gone")).toList();
    assertThat(decide(onOneNode, List.of(), NEVER, NOW).report().getFirst().volumes())
        .returns(20, LostNode.Bound::count)
        .satisfies(volumes -> assertThat(volumes.names()).hasSize(5));
    List<LostVolume> onManyNodes =
        IntStream.range(0, 60).mapToObj(i -> volume("v" + i, "gone-" + i)).toList();
    LostNodes decided = decide(onManyNodes, List.of(), Optional.of(Duration.ZERO), NOW);
    assertThat(decided.report()).hasSize(LostNodes.MAX_NODES);
    assertThat(decided.due()).hasSize(LostNodes.MAX_NODES);
  }

  @Test
  void volumesAreReleasedWhenTheGracePeriodIsOver() {
    List<LostVolume> volumes = List.of(volume("a", "gone"), volume("b", "gone-later"));
    List<LostNode> before =
        List.of(
            lost("gone", NOW.minus(Duration.ofDays(1))),
            lost("gone-later", NOW.minus(Duration.ofDays(1)).plusSeconds(1)));
    assertThat(decide(volumes, before, DAY, NOW).due()).containsExactly(volumes.getFirst());
    assertThat(decide(volumes, before, NEVER, NOW).due()).isEmpty();
    assertThat(decide(volumes, before, NEVER, NOW).report())
        .extracting(LostNode::since)
        .containsExactly(before.getFirst().since(), before.getLast().since());
  }

  @Test
  void theGracePeriodBeginsAgainAfterTheNodeHasExisted() {
    List<LostNode> before = List.of(lost("gone", NOW.minus(Duration.ofDays(9))));
    LostNodes whilePresent = decide(List.of(), before, DAY, NOW);
    assertThat(whilePresent).isEqualTo(new LostNodes(List.of(), List.of()));
    assertThat(decide(List.of(volume("a", "gone")), whilePresent.report(), DAY, NOW).due())
        .isEmpty();
  }

  @Test
  void theGracePeriodBeginsAgainWithTheOperator() {
    List<LostVolume> volumes = List.of(volume("a", "gone"));
    List<LostNode> before = List.of(lost("gone", NOW.minus(Duration.ofDays(9))));
    Instant started = NOW.minus(Duration.ofHours(23));
    LostNodes early =
        LostNodes.decide(new LostVolumes(volumes, Map.of("gone", started)), before, DAY, NOW);
    assertThat(early.due()).isEmpty();
    assertThat(early.report().getFirst().since()).isEqualTo(before.getFirst().since());
    assertThat(LostNodes.decide(new LostVolumes(volumes, Map.of()), before, DAY, NOW).due())
        .isEmpty();
    assertThat(
            LostNodes.decide(
                    new LostVolumes(volumes, Map.of("gone", started)),
                    before,
                    DAY,
                    NOW.plus(Duration.ofHours(1)))
                .due())
        .isEqualTo(volumes);
  }

  @Test
  void nothingIsKeptOfANodeWithoutLostVolumes() {
    LostVolumes first =
        LostVolumes.of(List.of(volume("a", "gone"), volume("b", "released")), Map.of(), NOW);
    LostVolumes next =
        LostVolumes.of(
            List.of(volume("a", "gone"), volume("c", "gone"), volume("d", "new")),
            first.observedSince(),
            NOW.plusSeconds(1));
    assertThat(next.observedSince()).isEqualTo(Map.of("gone", NOW, "new", NOW.plusSeconds(1)));
  }

  @Test
  void aRetainedVolumeStaysWithoutItsClaim() {
    List<LostNode> before = List.of(lost("gone", NOW.minus(Duration.ofDays(1))));
    assertThat(decide(List.of(unbound("a", "gone", false)), before, DAY, NOW))
        .satisfies(decided -> assertThat(decided.due()).isEmpty())
        .satisfies(decided -> assertThat(decided.report()).hasSize(1));
    assertThat(decide(List.of(unbound("a", "gone", true)), before, DAY, NOW).due()).hasSize(1);
  }

  @Test
  void theConditionNamesTheFirstVolumesThatCannotBeReleased() {
    List<LostNode> report = List.of(lost("gone", NOW));
    assertThat(message(report, List.of())).doesNotContain("Cannot be released");
    assertThat(message(report, List.of("volume a: forbidden")))
        .endsWith(". Cannot be released: volume a: forbidden");
    assertThat(message(report, List.of("a", "b", "c", "d", "e")))
        .endsWith(". Cannot be released: a; b; c and 2 more");
  }

  private static String message(List<LostNode> report, List<String> notReleased) {
    return String.valueOf(LostNodes.condition(report, notReleased).orElseThrow().message());
  }

  /** By an operator that has seen all of it. */
  private static LostNodes decide(
      List<LostVolume> volumes,
      List<LostNode> before,
      Optional<Duration> releaseAfter,
      Instant now) {
    return LostNodes.decide(
        new LostVolumes(
            volumes, before.stream().collect(Collectors.toMap(LostNode::node, LostNode::since))),
        before,
        releaseAfter,
        now);
  }

  private static LostNode lost(String node, Instant since) {
    return new LostNode(node, since, bound("any"), bound(), bound());
  }

  private static LostNode.Bound bound(String... names) {
    return LostNode.Bound.of(List.of(names));
  }

  private static LostVolume volume(String name, String node) {
    return new LostVolume(
        name,
        "uid-" + name,
        "driver",
        node,
        Optional.of(new ObjectReferenceBuilder().withNamespace("ns").withName(name).build()),
        true,
        List.of());
  }

  private static LostVolume unbound(String name, String node, boolean isDeletedWithClaim) {
    return new LostVolume(
        name, "uid-" + name, "driver", node, Optional.empty(), isDeletedWithClaim, List.of());
  }
}
