package io.pmemcsi.testbed.node;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * An image archive in the format of {@code docker save}, put together without any image tool: one
 * tar file with layers, a configuration for each image, and a list of the images.
 */
final class ImageArchive {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The content of the archive. */
  private final Path directory;

  private final ArrayNode manifest;

  private ImageArchive(Path directory, ArrayNode manifest) {
    this.directory = directory;
    this.manifest = manifest;
  }

  /** An archive without images, in an empty directory. */
  static ImageArchive empty(Path directory) {
    return new ImageArchive(directory, JSON.createArrayNode());
  }

  /** Unpacks an archive into an empty directory. */
  static ImageArchive open(Path archive, Path directory) {
    tar("--extract", "--file=" + archive, "--directory=" + directory);
    try {
      return new ImageArchive(
          directory,
          (ArrayNode) JSON.readTree(Files.readString(directory.resolve("manifest.json"))));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + archive, e);
    }
  }

  /** Adds an image with one layer. */
  ImageArchive add(String name, Path files, List<String> entrypoint) {
    ObjectNode configuration = JSON.createObjectNode();
    configuration.put("architecture", architecture()).put("os", "linux");
    configuration.putObject("config").putArray("Env").add("PATH=/bin");
    configuration.putObject("rootfs").put("type", "layers").putArray("diff_ids");
    return add(name, configuration, JSON.createArrayNode(), files, entrypoint);
  }

  /** Adds an image that is the first one of the archive with one more layer. */
  ImageArchive derive(String name, Path files, List<String> entrypoint) {
    try {
      JsonNode base = manifest.get(0);
      ObjectNode configuration =
          (ObjectNode)
              JSON.readTree(Files.readString(directory.resolve(base.get("Config").asText())));
      configuration.remove("history");
      return add(name, configuration, base.get("Layers").deepCopy(), files, entrypoint);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot derive an image from " + directory, e);
    }
  }

  private ImageArchive add(
      String name,
      ObjectNode configuration,
      ArrayNode layers,
      Path files,
      List<String> entrypoint) {
    try {
      Path layer = Files.createTempFile(directory, "layer", ".tar");
      tar("--create", "--file=" + layer, "--owner=0", "--group=0", "--directory=" + files, ".");
      String digest = sha256(layer);
      Path named =
          Files.move(
              layer, directory.resolve(digest + ".tar"), StandardCopyOption.REPLACE_EXISTING);
      ((ArrayNode) configuration.withObject("/rootfs").get("diff_ids")).add("sha256:" + digest);
      // as in the images of sidecars, whatever the user of the first image is
      configuration.withObject("/config").put("User", "0:0");
      ArrayNode command = configuration.withObject("/config").putArray("Entrypoint");
      entrypoint.forEach(command::add);
      String text = JSON.writeValueAsString(configuration);
      Path file = directory.resolve("configuration-%d.json".formatted(manifest.size()));
      Files.writeString(file, text);
      layers.add(named.getFileName().toString());
      ObjectNode image = manifest.addObject();
      image.put("Config", file.getFileName().toString());
      image.putArray("RepoTags").add(name);
      image.set("Layers", layers);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot add the image " + name, e);
    }
  }

  /** Writes the archive. */
  Path write(Path archive) {
    try {
      Files.writeString(directory.resolve("manifest.json"), JSON.writeValueAsString(manifest));
      tar("--create", "--file=" + archive, "--directory=" + directory, ".");
      return archive;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + archive, e);
    }
  }

  private static String architecture() {
    return System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
  }

  private static String sha256(Path file) throws IOException {
    try (InputStream input = Files.newInputStream(file);
        DigestInputStream digest =
            new DigestInputStream(input, MessageDigest.getInstance("SHA-256"))) {
      digest.transferTo(OutputStream.nullOutputStream());
      return HexFormat.of().formatHex(digest.getMessageDigest().digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void tar(String... arguments) {
    try {
      Process tar =
          new ProcessBuilder(Stream.concat(Stream.of("tar"), Stream.of(arguments)).toList())
              .redirectErrorStream(true)
              .start();
      String output = new String(tar.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (tar.waitFor() != 0) {
        throw new IllegalStateException("tar failed: " + output);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run tar", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while running tar", e);
    }
  }
}
