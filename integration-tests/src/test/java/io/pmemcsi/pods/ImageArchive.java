package io.pmemcsi.pods;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * The unpacked archive of an image.
 *
 * @param directory with the files of the archive
 * @param manifest describes the image
 */
public record ImageArchive(Path directory, JsonNode manifest) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * The archive that {@code make image} writes; built where it is out of date.
   *
   * @param directory an empty one
   */
  public static ImageArchive ofProgram(Path directory) throws IOException, InterruptedException {
    return unpack(Installation.image(), directory);
  }

  static ImageArchive unpack(Path archive, Path directory)
      throws IOException, InterruptedException {
    run("tar", "-xf", archive.toString(), "-C", directory.toString());
    JsonNode images = JSON.readTree(directory.resolve("manifest.json").toFile());
    assertThat(images).hasSize(1);
    return new ImageArchive(directory, images.get(0));
  }

  JsonNode configuration() throws IOException {
    return JSON.readTree(directory.resolve(manifest.get("Config").asText()).toFile());
  }

  List<Path> layers() {
    return manifest
        .get("Layers")
        .valueStream()
        .map(layer -> directory.resolve(layer.asText()))
        .toList();
  }

  /** Writes the files that a container would see; no layer of the image deletes any. */
  public void writeRoot(Path root) throws IOException, InterruptedException {
    for (Path layer : layers()) {
      run("tar", "-xf", layer.toString(), "-C", root.toString());
    }
  }

  static String run(String... command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as("exit code of %s", command[0]).isZero();
    return output;
  }
}
