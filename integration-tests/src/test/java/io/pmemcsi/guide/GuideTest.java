package io.pmemcsi.guide;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class GuideTest {

  private static final String STATUS = "operator/src/main/java/io/pmemcsi/operator/tools/status";

  static List<Page> pages() {
    return Guide.pages();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyCodeBlockSaysWhatItIs(Page page) {
    List<String> known =
        Stream.concat(Stream.of("console", "yaml"), Guide.NOT_RUN.stream()).toList();

    assertThat(page.blocks()).allSatisfy(block -> assertThat(block.language()).isIn(known));
  }

  /** GuideIT runs the others. */
  @ParameterizedTest
  @MethodSource("pages")
  void everyCommandIsRunOrSaysWhyNot(Page page) {
    if (!Guide.ON_A_NODE.contains(page.name())) {
      assertThat(page.commands())
          .allSatisfy(command -> assertThat(Guide.elsewhere(command)).as(command).isPresent());
      assertThat(page.blocks("yaml")).isEmpty();
    }
  }

  @Test
  void noReasonIsLeftOfACommandThatNoPageHas() {
    List<String> commands =
        Guide.pages().stream().flatMap(page -> page.commands().stream()).toList();

    assertThat(Guide.beginnings())
        .allSatisfy(
            beginning -> assertThat(commands).anyMatch(command -> command.startsWith(beginning)));
  }

  /** Every field of the resource, with what it is good for. */
  @ParameterizedTest
  @CsvSource({
    "PmemCSIDeployment, docs/configure.md",
    "CSIDriverDeployment, docs/driver-authors.md"
  })
  void everyFieldIsOnThePageOfSettings(String kind, String page) throws IOException {
    String api = Files.readString(Guide.ROOT.resolve("docs/api.md"));
    int start = api.indexOf("## %s\n".formatted(kind));
    String spec = api.substring(start, api.indexOf("### `status`", start));
    String settings = Files.readString(Guide.ROOT.resolve(page));

    assertThat(Pattern.compile("(?m)^\\| `(\\w+)`").matcher(spec).results().map(m -> m.group(1)))
        .hasSizeGreaterThan(50)
        .allSatisfy(field -> assertThat(settings).containsPattern("\\b%s\\b".formatted(field)));
  }

  @Test
  void volumesHasEveryParameterOfAStorageClass() throws IOException {
    String keys =
        Files.readString(
            Guide.ROOT.resolve("driver/src/main/java/io/pmemcsi/driver/volume/ParameterKey.java"));
    String page = Files.readString(Guide.ROOT.resolve("docs/volumes.md"));

    assertThat(
            Pattern.compile("\\(\"(\\w+)\", STORAGE_CLASS\\b")
                .matcher(keys)
                .results()
                .map(key -> key.group(1)))
        .hasSizeGreaterThan(4)
        .allSatisfy(key -> assertThat(page).containsIgnoringCase("`parameters.%s`".formatted(key)));
  }

  /** The snapshot API is not served where the other blocks are tried. */
  @Test
  void yamlAboutSnapshotsFitsTogether() {
    List<JsonNode> objects =
        Page.read(Guide.ROOT, "docs/snapshots.md").blocks("yaml").stream()
            .map(block -> Serialization.unmarshal(block.text(), JsonNode.class))
            .toList();
    JsonNode clone = yaml("common/pmem-pvc-clone.yaml");
    JsonNode snapshot = yaml("snapshots/snapshot.yaml");
    JsonNode restored = yaml("snapshots/restored-claim.yaml");
    JsonNode claim = yaml("common/pmem-pvc-late-binding.yaml");

    assertThat(objects).containsExactly(clone, snapshot, restored);
    assertThat(clone.at("/spec/dataSource/name")).isEqualTo(claim.at("/metadata/name"));
    assertThat(snapshot.at("/spec/source/persistentVolumeClaimName"))
        .isEqualTo(claim.at("/metadata/name"));
    assertThat(snapshot.at("/spec/volumeSnapshotClassName"))
        .isEqualTo(yaml("snapshots/class.yaml").at("/metadata/name"));
    assertThat(restored.at("/spec/dataSource/name")).isEqualTo(snapshot.at("/metadata/name"));
    assertThat(List.of(clone, restored))
        .allSatisfy(
            copy -> {
              assertThat(copy.at("/spec/storageClassName"))
                  .isEqualTo(claim.at("/spec/storageClassName"));
              assertThat(copy.at("/spec/resources")).isEqualTo(claim.at("/spec/resources"));
            });
  }

  private static JsonNode yaml(String name) {
    Path file = Guide.ROOT.resolve("deploy").resolve(name);
    try {
      return Serialization.unmarshal(Files.readString(file), JsonNode.class);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  /** What users search for must be what the programs print. */
  @Test
  void messagesOfThePageAreInTheCode() throws IOException {
    String code =
        code("api", "base", "app", "operator", "driver", "controller").replace("\\\"", "\"");
    String page = Files.readString(Guide.ROOT.resolve("docs/troubleshooting.md"));
    List<String> messages =
        Pattern.compile("(?m)^(?:\\*\\*|\\| )(`[^\\n]*?`)[.,* ]")
            .matcher(page.replaceAll("\\n(?=\\S)", " ").replaceAll(" (\\*\\*`|\\| `)", "\n$1"))
            .results()
            .flatMap(entry -> Pattern.compile("`([^`]+)`").matcher(entry.group(1)).results())
            .flatMap(message -> Stream.of(message.group(1).split("\\.\\.\\.", -1)))
            .map(String::strip)
            .filter(piece -> piece.length() > 20)
            .filter(piece -> Guide.WORDS_OF_OTHERS.stream().noneMatch(piece::contains))
            .toList();

    assertThat(messages)
        .hasSizeGreaterThan(20)
        .allSatisfy(piece -> assertThat(code).contains(piece));
  }

  /** What "pmem-csi status" prints is on its page, or on the page about problems. */
  @Test
  void sentencesOfTheStatusAreInThePages() throws IOException {
    String pages =
        (Files.readString(Guide.ROOT.resolve("docs/status.md"))
                + Files.readString(Guide.ROOT.resolve("docs/troubleshooting.md")))
            .replaceAll("\\s+", " ");
    List<List<String>> sentences =
        Pattern.compile("\"((?:[^\"\\\\\\n]|\\\\.)*)\"")
            .matcher(text(Guide.ROOT.resolve(STATUS)))
            .results()
            .map(literal -> literal.group(1).split("%[sd]|[:(]", -1))
            .map(pieces -> Stream.of(pieces).map(String::strip).filter(GuideTest::isText).toList())
            .filter(pieces -> !pieces.isEmpty())
            .toList();

    assertThat(sentences)
        .hasSizeGreaterThan(15)
        .allSatisfy(pieces -> assertThat(pieces).anyMatch(pages::contains));
  }

  private static boolean isText(String piece) {
    return piece.length() > 11 && piece.contains(" ");
  }

  private static String code(String... modules) throws IOException {
    var all = new StringBuilder();
    for (String module : modules) {
      all.append(text(Guide.ROOT.resolve(module).resolve("src/main/java")));
    }
    return all.toString();
  }

  /** The files of a directory; texts that are written in several parts are put together. */
  private static String text(Path directory) throws IOException {
    var all = new StringBuilder();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        all.append(Files.readString(file));
      }
    }
    return all.toString().replaceAll("\"\\s*\\+\\s*\"", "");
  }

  @Test
  void commandsAreFoundInAPage() {
    String page =
        """
        Text.

        ```console
        kubectl get pods   # all of them
        # only a comment
        kubectl delete pods \\
            --all
        ```

        1. A list.

           ```yaml
           a: 1
           b: |
             #c
           ```
        """;

    List<Page.Block> blocks = Page.parse(page);

    assertThat(blocks).extracting(Page.Block::language).containsExactly("console", "yaml");
    assertThat(blocks.getFirst().commands())
        .containsExactly("kubectl get pods", "kubectl delete pods --all");
    assertThat(blocks.getLast().text()).isEqualTo("a: 1\nb: |\n  #c\n");
  }
}
