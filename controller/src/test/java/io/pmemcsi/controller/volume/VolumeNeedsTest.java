package io.pmemcsi.controller.volume;

import static io.pmemcsi.controller.volume.KnownVolumes.DRIVER;
import static io.pmemcsi.controller.volume.KnownVolumes.LATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.volume.PodVolumes.ClaimReference;
import io.pmemcsi.controller.volume.PodVolumes.Generic;
import io.pmemcsi.controller.volume.PodVolumes.Inline;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VolumeNeedsTest {

  private static final long GIB = 1L << 30;

  private final KnownVolumes known = new KnownVolumes();
  private final VolumeNeeds needs = new VolumeNeeds(new DriverName(DRIVER), known);

  @Test
  void anUnboundLateBindingClaimOfTheDriverIsNeeded() throws Exception {
    known.claim("data", 4 * GIB);

    assertThat(needs.of(pod(new ClaimReference("v", "data"))))
        .containsExactly(new NeededVolume("default/data", 4 * GIB));
  }

  @Test
  void aClaimThatSaysNoSizeNeedsOneGibibyte() throws Exception {
    known.claim("data", 0);

    assertThat(needs.of(pod(new ClaimReference("v", "data"))))
        .extracting(NeededVolume::bytes)
        .containsExactly(GIB);
  }

  @Test
  void boundImmediateAndOtherClaimsNeedNothing() throws Exception {
    known
        .claim("bound", new Claim(true, LATE, GIB, ""))
        .claim("immediate", new Claim(false, "pmem-immediate", GIB, ""))
        .claim("other", new Claim(false, "other-late", GIB, ""))
        .claim("static", new Claim(false, "", GIB, ""));

    assertThat(
            needs.of(
                pod(
                    new ClaimReference("a", "bound"),
                    new ClaimReference("b", "immediate"),
                    new ClaimReference("c", "other"),
                    new ClaimReference("d", "static"))))
        .isEmpty();
  }

  @Test
  void inlineVolumesOfTheDriverAreNeeded() throws Exception {
    assertThat(
            needs.of(
                pod(new Inline("a", DRIVER, "2Gi", ""), new Inline("b", "other", "nonsense", ""))))
        .containsExactly(new NeededVolume("pod uid-1/a", 2 * GIB));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "much", "-1Gi"})
  void anInlineVolumeWithoutAGoodSizeIsAnError(String size) {
    assertThatThrownBy(() -> needs.of(pod(new Inline("scratch", DRIVER, size, ""))))
        .isInstanceOf(UnknownNeedException.class)
        .hasMessageStartingWith("checking for unbound volumes: ephemeral inline volume scratch: ");
  }

  @Test
  void aGenericEphemeralVolumeIsNeededBeforeItsClaimExists() throws Exception {
    assertThat(needs.of(pod(new Generic("scratch", LATE, "3Gi"))))
        .containsExactly(new NeededVolume("default/web-scratch", 3 * GIB));
  }

  @Test
  void theClaimOfAGenericEphemeralVolumeCountsWhenItExists() throws Exception {
    known.claim("web-scratch", new Claim(true, LATE, 3 * GIB, "node"));

    assertThat(needs.of(pod(new Generic("scratch", LATE, "3Gi")))).isEmpty();
  }

  @Test
  void aGenericEphemeralVolumeWithoutClassHasTheDefaultClass() throws Exception {
    assertThat(needs.of(pod(new Generic("scratch", "", "3Gi")))).isEmpty();

    known.defaultClass(LATE);

    assertThat(needs.of(pod(new Generic("scratch", "", "3Gi")))).hasSize(1);
    assertThat(needs.concern(pod(new Generic("scratch", "", "3Gi")))).isTrue();
  }

  @Test
  void anUnknownClaimOrClassIsAnError() {
    known.claim("data", new Claim(false, "missing", GIB, ""));

    assertThatThrownBy(() -> needs.of(pod(new ClaimReference("v", "nothing"))))
        .hasMessage(
            "look up claim: persistentvolumeclaim \"nothing\" not found in namespace \"default\"");
    assertThatThrownBy(() -> needs.of(pod(new ClaimReference("v", "data"))))
        .hasMessage("look up storage class: storageclass \"missing\" not found");
  }

  @Test
  void theWebhookConcernsPodsWhoseVolumesAreOfTheDriverBoundOrNot() {
    known
        .claim("open", GIB)
        .claim("bound", new Claim(true, LATE, GIB, ""))
        .claim("immediate", new Claim(false, "pmem-immediate", GIB, ""))
        .claim("classless", new Claim(false, "missing", GIB, ""));

    assertThat(needs.concern(pod(new ClaimReference("v", "open")))).isTrue();
    assertThat(needs.concern(pod(new ClaimReference("v", "bound")))).isTrue();
    assertThat(needs.concern(pod(new Inline("v", DRIVER, "", "")))).isTrue();
    assertThat(needs.concern(pod(new Generic("v", LATE, "1Gi")))).isTrue();
    assertThat(needs.concern(pod(new ClaimReference("v", "immediate")))).isFalse();
    assertThat(needs.concern(pod(new ClaimReference("v", "classless")))).isFalse();
    assertThat(needs.concern(pod(new ClaimReference("v", "unknown")))).isFalse();
    assertThat(needs.concern(pod(new Inline("v", "other.example.com", "1Gi", "")))).isFalse();
    assertThat(needs.concern(pod(new Generic("v", "other-late", "1Gi")))).isFalse();
    assertThat(needs.concern(pod())).isFalse();
  }

  @Test
  void classesAndInlineVolumesNameANumaNode() throws Exception {
    known.classOf("pmem-numa-1", new VolumeClass(DRIVER, true, "1"));
    known.claim("data", new Claim(false, "pmem-numa-1", GIB, ""));

    assertThat(
            needs.of(
                pod(new ClaimReference("data", "data"), new Inline("scratch", DRIVER, "1Gi", "0"))))
        .extracting(NeededVolume::numaNode)
        .containsExactly("1", "0");
  }

  @Test
  void aNumaNodeMayHaveLeadingZeros() throws Exception {
    assertThat(NumaNode.normalize(" 01 ")).isEqualTo("1");
    assertThat(NumaNode.normalize("00")).isEqualTo("0");
    assertThat(needs.of(pod(new Inline("v", DRIVER, "1Gi", "63"))))
        .containsExactly(new NeededVolume("pod uid-1/v", GIB, "63"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"64", "-1", "1.5", "first", "99999999999999999999"})
  void whatIsNotANumaNodeIsAnError(String numaNode) {
    known.classOf("pmem-numa", new VolumeClass(DRIVER, true, numaNode));
    known.claim("data", new Claim(false, "pmem-numa", GIB, ""));
    String error =
        "parameter \"numaNode\": invalid value \"%s\", write the number of a NUMA node from 0 to 63"
            .formatted(numaNode);

    assertThatThrownBy(() -> needs.of(pod(new Inline("scratch", DRIVER, "1Gi", numaNode))))
        .isInstanceOf(UnknownNeedException.class)
        .hasMessage(
            "checking for unbound volumes: ephemeral inline volume scratch: %s".formatted(error));
    assertThatThrownBy(() -> needs.of(pod(new ClaimReference("v", "data"))))
        .isInstanceOf(UnknownNeedException.class)
        .hasMessage("look up storage class: storageclass \"pmem-numa\": %s".formatted(error));
  }

  @Test
  void aPodHasUpTo256NewVolumes() throws Exception {
    var most =
        IntStream.range(0, 256)
            .mapToObj(i -> new Inline("v" + i, DRIVER, "1", ""))
            .toArray(PodVolumes.Volume[]::new);
    PodVolumes.Volume[] more = Arrays.copyOf(most, 257);
    more[256] = new Generic("one-more", LATE, "1Gi");

    assertThat(needs.of(pod(most))).hasSize(256);
    assertThatThrownBy(() -> needs.of(pod(more)))
        .isInstanceOf(UnknownNeedException.class)
        .hasMessage(
            "checking for unbound volumes: the pod has more than 256 new volumes of driver %s: use fewer"
                .formatted(DRIVER));
  }

  @Test
  void namesThatKubernetesDoesNotAllowAreAnError() throws Exception {
    PodVolumes.Volume volume = new Inline("v".repeat(63), DRIVER, "1", "");
    var longest = new PodVolumes("n".repeat(63), "p".repeat(253), "", List.of(volume));
    var longer = new PodVolumes("n".repeat(63), "p".repeat(2000), "", List.of(volume));

    assertThat(needs.of(longest)).hasSize(1);
    assertThatThrownBy(() -> needs.of(longer))
        .isInstanceOf(UnknownNeedException.class)
        .hasMessageContaining("longer than Kubernetes allows");
    assertThatThrownBy(() -> needs.of(pod(new Inline("v".repeat(2000), DRIVER, "1", ""))))
        .hasMessageContaining("longer than Kubernetes allows");
  }

  private static PodVolumes pod(PodVolumes.Volume... volumes) {
    return new PodVolumes("default", "web", "uid-1", List.of(volumes));
  }
}
