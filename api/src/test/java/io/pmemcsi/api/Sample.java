package io.pmemcsi.api;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A resource from src/test/resources/resources, with its expected errors.
 *
 * @param file where it stands
 * @param text its YAML
 */
public record Sample(Path file, String text) {

  private static final Path DIRECTORY = Path.of("src", "test", "resources", "resources");
  private static final KubernetesSerialization YAML = new KubernetesSerialization();

  /** Resources that are fine. */
  public static List<Sample> valid() {
    return all("valid-");
  }

  /** Resources that the API server or the operator must refuse. */
  public static List<Sample> invalid() {
    return all("invalid-");
  }

  private static List<Sample> all(String prefix) {
    try (Stream<Path> files = Files.walk(DIRECTORY)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(prefix))
          .sorted()
          .map(Sample::read)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Sample read(Path file) {
    try {
      return new Sample(file, Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public JsonNode resource() {
    return YAML.unmarshal(text, JsonNode.class);
  }

  /** Whether fields are set to an empty text, which some API servers cannot read. */
  public boolean hasEmptyTexts() {
    return file.getFileName().toString().equals("valid-empty-texts.yaml");
  }

  /** Part of the error of every API server, beside the rule if it supports CEL. */
  public Optional<String> server() {
    return comment("# server: ");
  }

  /** The error of an API server with CEL, and of our check in any case. */
  public Optional<String> rule() {
    return comment("# rule: ");
  }

  /** Part of the error of our check. */
  public String check() {
    return comment("# check: ").or(this::rule).orElseThrow();
  }

  private Optional<String> comment(String start) {
    return text.lines()
        .filter(line -> line.startsWith(start))
        .map(line -> line.substring(start.length()))
        .findFirst();
  }

  @Override
  public String toString() {
    return DIRECTORY.relativize(file).toString();
  }
}
