package io.pmemcsi.operator.deletion;

import static io.pmemcsi.operator.CsiVolumes.attachment;
import static io.pmemcsi.operator.CsiVolumes.volume;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.operator.usage.SampledCount;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DeletionGuardTest {

  private static final String DRIVER = "csi.example.com";
  private static final String FORCE = PmemCSIDeployment.FORCE_DELETION_ANNOTATION;

  private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

  private final AtomicInteger reads = new AtomicInteger();

  @Test
  void unusedDriverMayBeRemoved() {
    assertThat(guard(DriverUsage.none(DRIVER)).decide(resource(Map.of()), null, DRIVER))
        .isEqualTo(new DeletionDecision.Allow());
  }

  @Test
  void objectsThatUseTheDriverAreCountedAndNamed() {
    var usage =
        DriverUsage.of(
            DRIVER,
            List.of(volume("pv-1", DRIVER), claimed("pv-2", DRIVER), volume("pv-3", "other")),
            List.of(attachment("pv-2", DRIVER, "n1"), attachment("pv-3", "other", "n1")),
            List.of(inline("a", DRIVER, "Running"), inline("b", "other", "Running")),
            List.of(snapshot("s-1", DRIVER), snapshot("s-2", "other")),
            NOW);

    assertThat(guard(usage).decide(resource(Map.of()), "WhenUnused", DRIVER))
        .isEqualTo(
            new DeletionDecision.Hold(
                "The driver csi.example.com is not removed yet, because these need it:"
                    + " 2 PersistentVolumes (pv-1, pv-2 of claim shop/data), 1 VolumeAttachment"
                    + " (pv-2 to node n1), 1 pod with an inline volume (shop/a),"
                    + " 1 VolumeSnapshotContent (s-1 of snapshot shop/hourly). Delete them; or"
                    + " set the annotation pmem-csi.intel.com/force-deletion=true to remove the"
                    + " driver now, which leaves their data unreachable and mounted volumes"
                    + " behind.",
                Duration.ofSeconds(5)));
  }

  @Test
  void pendingPodsCount() {
    assertThat(usage(List.of(), List.of(inline("a", DRIVER, "Pending"))).isUsed()).isTrue();
  }

  @Test
  void volumeMigratedFromAnInTreePluginCounts() {
    var migrated =
        new PersistentVolumeBuilder()
            .withNewMetadata()
            .withName("old")
            .withAnnotations(Map.of("pv.kubernetes.io/migrated-to", DRIVER))
            .endMetadata()
            .withNewSpec()
            .withNewGcePersistentDisk()
            .withPdName("disk")
            .endGcePersistentDisk()
            .endSpec()
            .build();

    assertThat(usage(List.of(migrated), List.of()).volumes().count()).isEqualTo(1);
  }

  @Test
  void longListsAreShortenedAndReadLessOften() {
    List<PersistentVolume> many =
        IntStream.range(0, 600).mapToObj(i -> volume("pv-" + i, DRIVER)).toList();
    var usage = usage(many, List.of());

    assertThat(usage.describe())
        .isEqualTo("600 PersistentVolumes (pv-0, pv-1, pv-2, pv-3, pv-4 and 595 more)");
    assertThat(guard(usage).decide(resource(Map.of()), null, DRIVER))
        .isInstanceOfSatisfying(
            DeletionDecision.Hold.class,
            hold -> assertThat(hold.requeueAfter()).isEqualTo(Duration.ofMinutes(1)));
  }

  @Test
  void pagesAddUp() {
    var first = usage(List.of(volume("pv-1", DRIVER)), List.of());
    var second = usage(List.of(volume("pv-2", DRIVER)), List.of(inline("p", DRIVER, "")));

    assertThat(first.and(second))
        .isEqualTo(
            new DriverUsage(
                DRIVER,
                new SampledCount(2, List.of("pv-1", "pv-2")),
                SampledCount.NONE,
                new SampledCount(1, List.of("shop/p")),
                SampledCount.NONE));
  }

  @Test
  void immediatePolicyAndForceAnnotationReadNothing() {
    var used = usage(List.of(volume("pv", DRIVER)), List.of());

    assertThat(guard(used).decide(resource(Map.of()), "Immediate", DRIVER))
        .isEqualTo(new DeletionDecision.Allow());
    assertThat(guard(used).decide(resource(Map.of(FORCE, "true")), "WhenUnused", DRIVER))
        .isEqualTo(new DeletionDecision.Allow());
    assertThat(reads).hasValue(0);
  }

  @Test
  void unknownForceValueOrPolicyHoldsTheDeletion() {
    var used = usage(List.of(volume("pv", DRIVER)), List.of());

    assertThat(guard(used).decide(resource(Map.of(FORCE, "yes")), null, DRIVER))
        .isInstanceOf(DeletionDecision.Hold.class);
    assertThat(guard(used).decide(resource(Map.of()), "immediately", DRIVER))
        .isInstanceOf(DeletionDecision.Hold.class);
  }

  private DeletionGuard guard(DriverUsage usage) {
    return new DeletionGuard(
        driver -> {
          reads.incrementAndGet();
          return usage;
        },
        FORCE);
  }

  private static HasMetadata resource(Map<String, String> annotations) {
    var resource = new PmemCSIDeployment();
    resource.getMetadata().setName(DRIVER);
    resource.getMetadata().setAnnotations(annotations);
    return resource;
  }

  private static DriverUsage usage(List<PersistentVolume> volumes, List<Pod> pods) {
    return DriverUsage.of(DRIVER, volumes, List.of(), pods, List.of(), NOW);
  }

  private static PersistentVolume claimed(String name, String driver) {
    return new PersistentVolumeBuilder(volume(name, driver))
        .editSpec()
        .withNewClaimRef()
        .withNamespace("shop")
        .withName("data")
        .endClaimRef()
        .endSpec()
        .build();
  }

  private static GenericKubernetesResource snapshot(String name, String driver) {
    return new GenericKubernetesResourceBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .addToAdditionalProperties(
            "spec",
            Map.of(
                "driver",
                driver,
                "volumeSnapshotRef",
                Map.of("namespace", "shop", "name", "hourly")))
        .build();
  }

  private static Pod inline(String name, String driver, String phase) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("shop")
        .endMetadata()
        .withNewSpec()
        .addNewVolume()
        .withName("v")
        .withNewCsi()
        .withDriver(driver)
        .endCsi()
        .endVolume()
        .endSpec()
        .withNewStatus()
        .withPhase(phase)
        .endStatus()
        .build();
  }
}
