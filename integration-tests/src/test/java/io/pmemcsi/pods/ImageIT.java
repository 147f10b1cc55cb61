package io.pmemcsi.pods;

import static io.pmemcsi.pods.ImageArchive.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The archive that {@code make image} writes: its names, content and size. */
@TestInstance(Lifecycle.PER_CLASS)
class ImageIT {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** In a namespace of its own, so that no mount stays; with what a privileged pod has. */
  private static final String IN_IMAGE =
      """
      for directory in dev proc sys; do
        mount --rbind "/$directory" "$0/$directory"
      done
      # the JVM of the tests may leave files open
      exec env LVM_SUPPRESS_FD_WARNINGS=1 chroot "$0" sh -e -c "$1"
      """;

  /** Every program that the driver starts, most of them on files in place of devices. */
  private static final String USE_TOOLS =
      """
      cd /tmp
      truncate --size=64M ext4
      mkfs.ext4 -q ext4
      e2fsck -f -p ext4 > log
      tune2fs -U random ext4 > log
      truncate --size=128M ext4
      resize2fs ext4 > log 2>&1
      blkid --probe --output value --match-tag TYPE ext4
      truncate --size=512M xfs
      mkfs.xfs -q xfs
      xfs_admin -U generate xfs > log
      xfs_db -r -c 'sb 0' -c 'print magicnum' xfs
      xfs_io -r -c stat xfs > log
      blkid --probe --output value --match-tag TYPE xfs
      wipefs --all xfs > log
      fallocate --length 1M file
      xfs_growfs -V > log
      mount --version > log
      umount --version > log
      blockdev --version > log
      modprobe --version > log
      dmsetup help > log 2>&1
      lvm segtypes | grep --only-matching linear
      ndctl version > log
      ndctl list --buses > log
      echo complete
      """;

  private final Path archive;
  private final Path work;
  private final ImageArchive image;

  ImageIT(@TempDir Path work) throws Exception {
    this.archive = Installation.image();
    this.work = work;
    this.image = ImageArchive.unpack(archive, work);
  }

  @Test
  void imageIsSmallAndContainsWhatThePodsNeed() throws Exception {
    long size = 0;
    var files = new ArrayList<String>();
    for (Path layer : image.layers()) {
      // docker may compress them
      size +=
          Long.parseLong(run("sh", "-c", "zcat --force \"$0\" | wc -c", layer.toString()).strip());
      files.addAll(files(layer));
    }

    assertThat(size).as("bytes of all layers, unpacked").isLessThan(250_000_000);
    assertThat(files)
        .contains(
            "usr/local/bin/pmem-csi",
            "usr/local/bin/pmem-csi-driver",
            "usr/local/bin/pmem-csi-operator",
            "usr/local/lib/pmem-csi/aot/node.aot",
            "usr/local/lib/pmem-csi/aot/operator.aot",
            "usr/local/lib/pmem-csi/sbom.json",
            "usr/sbin/lvm",
            "usr/sbin/mkfs.xfs",
            "usr/sbin/mke2fs",
            "usr/bin/ndctl",
            "usr/bin/mount",
            "var/lib/dpkg/status");
    assertThat(files)
        .as("files that only serve to build the image")
        .noneMatch(file -> file.contains("/training") || file.contains("usr/bin/perl"));
  }

  /** The image lacks libraries that its packages ask for: none of them may be needed. */
  @Test
  void theToolsThatTheDriverCallsWork(@TempDir Path root) throws Exception {
    assertThat(inImage(root, USE_TOOLS).lines())
        .containsExactly("ext4", "magicnum = 0x58465342", "xfs", "linear", "complete");
  }

  /** A container has no udev that LVM could wait for or ask. */
  @Test
  void lvmUsesTheSettingsForContainers(@TempDir Path root) throws Exception {
    assertThat(
            inImage(
                    root,
                    "lvm lvmconfig activation/udev_sync activation/udev_rules activation/monitoring"
                        + " backup/backup backup/archive devices/obtain_device_list_from_udev"
                        + " devices/external_device_info_source global/notify_dbus")
                .lines())
        .containsExactly(
            "udev_sync=0",
            "udev_rules=0",
            "monitoring=0",
            "backup=0",
            "archive=0",
            "obtain_device_list_from_udev=0",
            "external_device_info_source=\"none\"",
            "notify_dbus=0");
  }

  /** Otherwise the JVM ignores a class cache that does not fit, and starts slowly. */
  @ParameterizedTest
  @ValueSource(strings = {"pmem-csi-driver", "pmem-csi-operator"})
  void theClassCacheFitsTheProgram(String command, @TempDir Path root) throws Exception {
    assertThat(
            inImage(
                root,
                "export PMEM_CSI_JAVA_OPTIONS=-XX:AOTMode=on; exec /usr/local/bin/%s -version"
                    .formatted(command)))
        .contains(find("pom.xml", "<revision>(.*)</revision>"));
  }

  private String inImage(Path root, String script) throws Exception {
    image.writeRoot(root);
    return run("unshare", "--mount", "sh", "-e", "-c", IN_IMAGE, root.toString(), script);
  }

  /** Users load the archive once, then install in any of the documented ways. */
  @Test
  void theImageHasTheNamesThatTheFilesAndTheChartUse() throws Exception {
    assertThat(image.manifest().get("RepoTags"))
        .extracting(JsonNode::asText)
        .contains(
            find("deploy/operator/pmem-csi-operator.yaml", "(?m)^ +image: (.*)$"),
            "%s:%s"
                .formatted(
                    find("deploy/helm/pmem-csi/values.yaml", "(?m)^  repository: (.*)$"),
                    find("deploy/helm/pmem-csi/Chart.yaml", "(?m)^appVersion: (.*)$")));
  }

  @Test
  void theNameMayHaveARegistryWithAPort(@TempDir Path directory) throws Exception {
    build(directory, "registry.example.com:5000/storage/driver");

    assertThat(
            ImageArchive.unpack(directory.resolve("pmem-csi-driver.tar"), directory)
                .manifest()
                .get("RepoTags"))
        .extracting(JsonNode::asText)
        .containsExactly(
            "registry.example.com:5000/storage/driver:latest",
            "registry.example.com:5000/storage/driver:"
                + find("pom.xml", "<revision>(.*)</revision>"));
  }

  @Test
  void labelsNameTheVersion() throws Exception {
    JsonNode labels = image.configuration().at("/config/Labels");

    assertThat(labels.path("org.opencontainers.image.version").asText())
        .isEqualTo(find("pom.xml", "<revision>(.*)</revision>"));
    assertThat(labels.path("org.opencontainers.image.title").asText()).isEqualTo("PMEM-CSI");
    assertThat(labels.path("org.opencontainers.image.licenses").asText()).isEqualTo("Apache-2.0");
  }

  /** Platforms that choose no user themselves take this one for pods that must not be root. */
  @Test
  void theUserIsANumberAndNotRoot() throws Exception {
    assertThat(image.configuration().at("/config/User").asText())
        .matches("[1-9][0-9]*:[1-9][0-9]*");
  }

  /** Scanners compare it with lists of vulnerabilities: what it lacks, they do not find. */
  @Test
  void theSbomListsEveryPackageEveryJarAndTheRuntime() throws Exception {
    var jars = new ArrayList<String>();
    for (Path layer : image.layers()) {
      List<String> files = files(layer);
      if (files.contains("var/lib/dpkg/status")) {
        run("tar", "-xf", layer.toString(), "-C", work.toString(), "var/lib/dpkg/status");
      }
      files.stream()
          .filter(file -> file.startsWith("usr/local/lib/pmem-csi/lib/") && file.endsWith(".jar"))
          .map(file -> file.substring(file.lastIndexOf('/') + 1))
          .forEach(jars::add);
    }
    JsonNode components =
        JSON.readTree(archive.resolveSibling("sbom.json").toFile()).get("components");

    assertThat(named(components, "pkg:deb/debian/", "%s %s"))
        .hasSizeGreaterThan(30)
        .containsExactlyInAnyOrderElementsOf(
            run(
                    "dpkg-query",
                    "--admindir=" + work.resolve("var/lib/dpkg"),
                    "--show",
                    "--showformat=${db:Status-Status} ${Package} ${Version}\\n")
                .lines()
                .filter(line -> line.startsWith("installed "))
                .map(line -> line.substring("installed ".length()))
                .toList());
    // a jar's name ends with its classifier, where it has one
    assertThat(named(components, "pkg:maven/", "%s-%s"))
        .hasSizeGreaterThan(30)
        .allSatisfy(one -> assertThat(jars).anyMatch(jar -> jar.startsWith(one)));
    assertThat(jars)
        .allSatisfy(
            jar ->
                assertThat(named(components, "pkg:maven/", "%s-%s"))
                    .anyMatch(one -> jar.startsWith(one)));
    assertThat(named(components, "pkg:generic/", "%s")).containsExactly("openjdk");
  }

  private static List<String> named(JsonNode components, String purl, String form) {
    return components
        .valueStream()
        .filter(component -> component.path("purl").asText().startsWith(purl))
        .map(one -> form.formatted(one.get("name").asText(), one.get("version").asText()))
        .toList();
  }

  /** The clock of the machine that builds the image must not show in it. */
  @Test
  void allFilesHaveTheTimeOfTheRelease() throws Exception {
    assumeThat(Installation.read(archive.resolveSibling("made-for")))
        .as("with docker, files of packages keep the time of the build: see the Containerfile")
        .doesNotStartWith("docker ");
    String time =
        Instant.parse(find("pom.xml", "<project.build.outputTimestamp>(.*)</"))
            .toString()
            .replaceAll("T(.*)Z", " $1");

    for (Path layer : image.layers()) {
      assertThat(run("env", "TZ=UTC", "tar", "--full-time", "-tvf", layer.toString()).lines())
          .isNotEmpty()
          .allMatch(line -> line.contains(" %s ".formatted(time)));
    }
  }

  /**
   * The JVM records in its class caches what its threads happened to do first. Both builds are new
   * ones, because Debian's packages may have changed since the base in the cache was created.
   */
  @Test
  @EnabledIfSystemProperty(named = "pmem-csi.campaign", matches = "true")
  void aSecondBuildGivesTheSameLayersExceptForTheClassCaches(
      @TempDir Path first, @TempDir Path second) throws Exception {
    assertThat(contentsOfNewBuild(second)).isEqualTo(contentsOfNewBuild(first));
  }

  private static List<String> contentsOfNewBuild(Path directory) throws Exception {
    build(directory, "pmem-csi-driver:canary", "PMEM_CSI_IMAGE_CACHE=no");
    return contents(
        ImageArchive.unpack(directory.resolve("pmem-csi-driver.tar"), directory).layers());
  }

  private static void build(Path directory, String tag, String... environment) throws Exception {
    var command = new ArrayList<>(List.of("env", "PMEM_CSI_IMAGE_DIR=" + directory));
    command.addAll(List.of(environment));
    command.addAll(List.of(Installation.ROOT.resolve("build/image").toString(), tag));
    Process build =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    assertThat(build.waitFor()).as("exit code of build/image").isZero();
  }

  /** A digest of each layer, and for the layer with the class caches their names. */
  private static List<String> contents(List<Path> layers) throws Exception {
    var contents = new ArrayList<String>();
    for (Path layer : layers) {
      List<String> files = files(layer);
      contents.add(
          files.contains("usr/local/lib/pmem-csi/aot/node.aot")
              ? String.join(" ", files)
              : run("sha256sum", layer.toString()).substring(0, 64));
    }
    return contents;
  }

  private static List<String> files(Path layer) throws Exception {
    return run("tar", "-tf", layer.toString()).lines().toList();
  }

  private static String find(String file, String pattern) {
    Matcher matcher =
        Pattern.compile(pattern).matcher(Installation.read(Installation.ROOT.resolve(file)));
    assertThat(matcher.find()).as(file).isTrue();
    return matcher.group(1);
  }
}
