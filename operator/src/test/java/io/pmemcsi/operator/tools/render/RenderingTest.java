package io.pmemcsi.operator.tools.render;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.operator.apply.ssa.PodTemplates;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.facts.ServedApi;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares the objects for each version of Kubernetes with golden files. A file is valid from its
 * version up to the next file; {@code make generate} writes them again.
 */
class RenderingTest {

  private static final Path RESOURCES = Path.of("src/test/resources/resources");
  private static final Path SAMPLES = Path.of("../deploy/samples");
  private static final Path GOLDEN = Path.of("src/test/resources/golden");
  private static final boolean UPDATE = Boolean.getBoolean("pmem-csi.generate");

  private final Rendering rendering = new Rendering();

  static Stream<KubernetesVersion> versions() {
    return IntStream.rangeClosed(
            KubernetesVersion.OLDEST.minor(), KubernetesVersion.NEWEST_KNOWN.minor())
        .mapToObj(minor -> new KubernetesVersion(1, minor));
  }

  @ParameterizedTest
  @MethodSource("versions")
  void smallestResourceIsRenderedAsExpected(KubernetesVersion version) {
    compare("pmem/minimal", version, facts(version));
  }

  @ParameterizedTest
  @MethodSource("versions")
  void resourceWithEveryFieldIsRenderedAsExpected(KubernetesVersion version) {
    compare("pmem/full", version, facts(version));
  }

  @ParameterizedTest
  @MethodSource("versions")
  void openShiftIsRenderedAsExpected(KubernetesVersion version) {
    var apis = EnumSet.of(ServedApi.OPENSHIFT_SECURITY, ServedApi.SNAPSHOTS);
    apis.addAll(facts(version).apis());
    compare("pmem/openshift", version, new ClusterFacts(version, "pmem-csi", "driver:test", apis));
  }

  @ParameterizedTest
  @MethodSource("versions")
  void documentedCentralControllerIsRenderedAsExpected(KubernetesVersion version) {
    compare("legacy/documented", version, facts(version));
  }

  @ParameterizedTest
  @MethodSource("versions")
  void centralControllerWithEveryFieldOnOpenShiftIsRenderedAsExpected(KubernetesVersion version) {
    var apis = EnumSet.of(ServedApi.OPENSHIFT_SECURITY);
    apis.addAll(facts(version).apis());
    compare("legacy/full", version, new ClusterFacts(version, "pmem-csi", "driver:test", apis));
  }

  @ParameterizedTest
  @MethodSource("versions")
  void documentedTemplatesAreRenderedAsExpected(KubernetesVersion version) {
    compare("template/documented", version, facts(version));
  }

  @ParameterizedTest
  @MethodSource("versions")
  void templatesWithEveryFieldAreRenderedAsExpected(KubernetesVersion version) {
    compare("template/full", version, facts(version));
  }

  @ParameterizedTest
  @MethodSource("versions")
  void templatesOnOpenShiftAreRenderedAsExpected(KubernetesVersion version) {
    var apis = EnumSet.of(ServedApi.OPENSHIFT_SECURITY);
    apis.addAll(facts(version).apis());
    compare(
        "template/openshift", version, new ClusterFacts(version, "pmem-csi", "driver:test", apis));
  }

  @ParameterizedTest
  @ValueSource(strings = {"hostpath", "nfs", "aws-ebs"})
  void samplesAreRenderedAsExpected(String sample) {
    KubernetesVersion version = KubernetesVersion.NEWEST_KNOWN;
    HasMetadata resource = rendering.read(read(SAMPLES.resolve(sample + ".yaml")));
    String yaml = rendering.yaml(rendering.objects(resource, facts(version)));
    Path expected = GOLDEN.resolve("samples").resolve(sample + ".yaml");
    if (UPDATE) {
      write(expected, yaml);
    }

    assertThat(yaml).isEqualTo(read(expected));
  }

  /** The API server warns about ports of the same name. */
  @ParameterizedTest
  @ValueSource(strings = {"pmem/full", "legacy/full", "template/full"})
  void portsOfOnePodHaveDifferentNames(String name) {
    HasMetadata resource = rendering.read(read(RESOURCES.resolve(name + ".yaml")));

    assertThat(rendering.objects(resource, facts(KubernetesVersion.NEWEST_KNOWN)))
        .flatExtracting(object -> PodTemplates.of(object).stream().toList())
        .isNotEmpty()
        .allSatisfy(
            template ->
                assertThat(
                        template.getSpec().getContainers().stream()
                            .flatMap(container -> container.getPorts().stream())
                            .map(ContainerPort::getName))
                    .doesNotHaveDuplicates());
  }

  @Test
  void unknownKindIsRejectedByName() {
    HasMetadata pod = new PodBuilder().build();

    assertThatThrownBy(() -> rendering.objects(pod, facts(KubernetesVersion.OLDEST)))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("v1 Pod is not a kind");
  }

  /** Only the owner of the kind validates it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "apps/v1 | Deployment | spec: 5",
        "v1 | Pod | metadata: foo",
        "pmem-csi.intel.com/v1 | Deployment | spec: {deviceMode: tape}",
        "example.org/v1 | Foo | spec: {}",
      })
  void resourceOfAnotherKindIsNotValidated(String apiVersion, String kind, String rest) {
    assertThatThrownBy(
            () -> rendering.read("apiVersion: %s\nkind: %s\n%s".formatted(apiVersion, kind, rest)))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith(
            "%s %s is not a kind that this operator handles: use ".formatted(apiVersion, kind));
  }

  @Test
  void resourceThatTheServerWouldRejectIsRejected() {
    String head = "apiVersion: pmem-csi.intel.com/v1beta1\nkind: PmemCSIDeployment\n";

    assertThatThrownBy(
            () ->
                rendering.read(
                    head + "metadata: {name: a}\nspec: {deviceMode: tape, pmemPercentage: 50%}"))
        .isInstanceOf(UsageException.class)
        .hasMessage(
            "spec.deviceMode: \"tape\": must be one of direct, file, lvm;"
                + " spec.pmemPercentage: \"50%\": must be a whole number");
    assertThatThrownBy(() -> rendering.read(head + "metadata: {name: a}\nspec: {devicemode: lvm}"))
        .isInstanceOf(UsageException.class)
        .hasMessage("spec.devicemode: is not a field: did you mean deviceMode?");
  }

  private void compare(String name, KubernetesVersion version, ClusterFacts facts) {
    HasMetadata resource = rendering.read(read(RESOURCES.resolve(name + ".yaml")));
    List<HasMetadata> objects = rendering.objects(resource, facts);
    String yaml = rendering.yaml(objects);
    if (UPDATE) {
      update(name, version, yaml);
    }
    assertThat(yaml).isEqualTo(read(expected(name, version)));
  }

  private static void update(String name, KubernetesVersion version, String yaml) {
    try {
      Path own = GOLDEN.resolve(name).resolve(version + ".yaml");
      Files.deleteIfExists(own);
      if (version.equals(KubernetesVersion.OLDEST) || !read(expected(name, version)).equals(yaml)) {
        write(own, yaml);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(Path file, String yaml) {
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(file, yaml);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path expected(String name, KubernetesVersion version) {
    for (int minor = version.minor(); minor >= KubernetesVersion.OLDEST.minor(); minor--) {
      Path file = GOLDEN.resolve(name).resolve("1." + minor + ".yaml");
      if (Files.exists(file)) {
        return file;
      }
    }
    throw new AssertionError("no expectation for " + name + " on " + version);
  }

  private static ClusterFacts facts(KubernetesVersion version) {
    return ClusterFacts.assumed(version, "pmem-csi", "driver:test");
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
