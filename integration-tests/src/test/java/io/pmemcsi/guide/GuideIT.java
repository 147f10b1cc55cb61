package io.pmemcsi.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.objects.Sidecar;
import io.pmemcsi.operator.objects.SidecarRelease;
import io.pmemcsi.standin.StandIns;
import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.node.RealNode;
import io.pmemcsi.testbed.node.WithRealNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;

/**
 * A reader who types every command of the guide and applies every YAML block, page by page, on a
 * cluster with one real node. From nothing to a pod with a volume, and back to nothing.
 */
@WithRealNode
@TestInstance(Lifecycle.PER_CLASS)
class GuideIT {

  /** The longest time-out of a command in the guide is 5 minutes. */
  private static final int LIMIT_MINUTES = 8;

  /** What the pages use; no registry can be reached. */
  private static final String PROVISIONER = "registry.k8s.io/sig-storage/csi-provisioner:v5.3.0";

  private static final String BUSYBOX = "docker.io/library/busybox:1.36";

  /** What was typed and printed, for those who look into a failure. */
  private static final Path TRANSCRIPT = Path.of("target/guide-transcript.txt");

  private static final Pattern FILE = Pattern.compile("^# (\\S+\\.yaml)\\n");

  private final RealNode node;
  private final Path directory;
  private final List<String> failures = new ArrayList<>();

  GuideIT(RealNode node, @TempDir Path directory) {
    this.node = node;
    this.directory = directory;
  }

  @BeforeAll
  void prepare() throws Exception {
    Files.deleteIfExists(TRANSCRIPT);
    StandIns.importTo(node, image(), directory);
    nameImages();
    // not in the source tree: commands write files
    for (String name : List.of("deploy", "bin")) {
      Files.createSymbolicLink(directory.resolve(name), Guide.ROOT.resolve(name));
    }
    for (Map.Entry<String, Guide.Edit> edit : Guide.EDITS.entrySet()) {
      String text = Files.readString(Guide.ROOT.resolve(edit.getKey()));
      assertThat(text).as(edit.getKey()).contains(edit.getValue().from());
      Files.writeString(
          directory.resolve(edited(edit.getKey())),
          text.replace(edit.getValue().from(), edit.getValue().to()));
    }
    Files.createSymbolicLink(
        Files.createDirectory(directory.resolve("tools")).resolve("kubectl"),
        Binaries.find().orSkip("kubectl", "readers need it"));
  }

  /** The archive that {@code make image} writes; built where it is out of date. */
  private static Path image() throws IOException, InterruptedException {
    Process build =
        new ProcessBuilder(Guide.ROOT.resolve("build/image").toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output = new String(build.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(build.waitFor()).as("exit code of build/image").isZero();
    return Path.of(output.strip());
  }

  /** As the files and the operator name them, so that the files can be used as they are. */
  private void nameImages() {
    KubernetesVersion server = KubernetesVersion.parse(node.cluster().version().toString());
    Map.of(
            Sidecar.PROVISIONER, StandIns.PROVISIONER,
            Sidecar.REGISTRAR, StandIns.REGISTRAR,
            Sidecar.RESIZER, StandIns.RESIZER)
        .forEach(
            (sidecar, standIn) ->
                node.tagImage(standIn, SidecarRelease.of(sidecar, server).image()));
    node.tagImage(StandIns.PROVISIONER, PROVISIONER);
    node.tagImage(node.busybox(), BUSYBOX);
  }

  @TestFactory
  Stream<DynamicTest> everyCommandAndEveryYaml() {
    return Guide.ON_A_NODE.stream()
        .map(name -> Page.read(Guide.ROOT, name))
        .map(page -> DynamicTest.dynamicTest(page.name(), () -> follow(page)));
  }

  /** The last page removes what the first one installed. */
  @AfterAll
  void nothingIsLeft() {
    await("no mount of a volume")
        .untilAsserted(
            () -> assertThat(node.mounts()).noneMatch(mount -> mount.contains("/kubelet/")));
    assertThat(node.loopDevices()).isEmpty();
    node.client().storage().v1().storageClasses().delete();
    assertThat(node.client().storage().v1().csiDrivers().list().getItems()).isEmpty();
    assertThat(node.client().persistentVolumes().list().getItems()).isEmpty();
  }

  /** To its end, although a command fails: the next ones may say why. */
  private void follow(Page page) throws Exception {
    failures.clear();
    for (Page.Block block : page.blocks()) {
      switch (block.language()) {
        case "console" -> {
          for (String command : block.commands()) {
            if (Guide.elsewhere(command).isEmpty()) {
              type(command);
            }
          }
        }
        case "yaml" -> check(block.text());
        default -> {
          // not run: GuideTest checks which ones these are
        }
      }
    }
    type("kubectl delete pods,pvc --all --grace-period=1 --timeout=5m");
    assertThat(failures).isEmpty();
  }

  /**
   * The server accepts it, and so does the operator if it is for the operator. A comment in the
   * first line names the file in which a reader saves it.
   */
  private void check(String yaml) throws Exception {
    Matcher name = FILE.matcher(yaml);
    if (name.find()) {
      Path file = directory.resolve(name.group(1));
      Files.createDirectories(file.resolveSibling(""));
      Files.writeString(file, yaml);
    }
    if (Guide.KINDS_OF_OTHERS.stream().anyMatch(yaml::contains)) {
      return;
    }
    String whole =
        yaml.startsWith("spec:")
            ? "apiVersion: pmem-csi.intel.com/v1beta1\nkind: PmemCSIDeployment\n"
                + "metadata: {name: example.com}\n"
                + yaml
            : yaml;
    Files.writeString(directory.resolve("block.yaml"), whole);
    type("kubectl apply --dry-run=server -f block.yaml");
    if (whole.contains("kind: PmemCSIDeployment") || whole.contains("kind: CSIDriverDeployment")) {
      type("pmem-csi render -f block.yaml");
    }
  }

  private static String edited(String file) {
    return file.replace('/', '-');
  }

  private void type(String documented) throws IOException, InterruptedException {
    String command = documented;
    for (Map.Entry<String, String> file : Guide.REPLACED.entrySet()) {
      command = command.replace(file.getKey(), file.getValue());
    }
    for (String file : Guide.EDITS.keySet()) {
      command = command.replace(file, edited(file));
    }
    for (Map.Entry<String, String> value : Guide.PLACEHOLDERS.entrySet()) {
      command =
          command.replaceAll(
              "\\b%s\\b".formatted(value.getKey()), value.getValue().replace("$", "\\$"));
    }
    Path output = directory.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-o", "pipefail", "-c", command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    Map<String, String> environment = builder.environment();
    environment.put("KUBECONFIG", node.cluster().kubeconfig().toString());
    environment.put("HOME", directory.toString());
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put(
        "PATH",
        "%s:%s:%s"
            .formatted(
                directory.resolve("tools"), Guide.ROOT.resolve("bin"), environment.get("PATH")));
    Process process = builder.start();
    boolean ended = process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES);
    process.destroyForcibly().waitFor();
    String printed = Files.readString(output, StandardCharsets.UTF_8);
    Files.writeString(
        TRANSCRIPT,
        "$ %s%n%s%n".formatted(documented, printed),
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
    // differences are what a reader of "diff" wants to see, and problems one of "status"
    int most =
        documented.contains("pmem-csi diff") || documented.contains("bin/pmem-csi status") ? 1 : 0;
    boolean unexpected =
        Guide.OUTPUTS.entrySet().stream()
            .filter(entry -> documented.endsWith(entry.getKey()))
            .anyMatch(entry -> !entry.getValue().matcher(printed).find());
    if (!ended || process.exitValue() > most || unexpected) {
      failures.add("%s%n%s".formatted(documented, printed));
    }
  }
}
