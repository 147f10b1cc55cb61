package io.pmemcsi.build;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** What tells one content from another, wherever it lies. */
final class Digests {

  /** The same jars are on the class path of many modules. */
  private static final Map<Path, String> JARS = new ConcurrentHashMap<>();

  private Digests() {}

  static String of(byte[] content) {
    return HexFormat.of().formatHex(sha256().digest(content));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Of a folder or a jar on a class path. What we compiled ourselves is known by what it was
   * compiled from: the classes themselves depend a little on whether Error Prone has looked at
   * them.
   */
  static String of(Path path) {
    try {
      Path origin = origin(path);
      if (Files.exists(origin)) {
        return Files.readString(origin);
      }
      if (Files.isDirectory(path)) {
        return ofFolder(path);
      }
      return Files.exists(path) ? ofJar(path) : "";
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + path, e);
    }
  }

  private static String ofJar(Path jar) throws IOException {
    String digest = JARS.get(jar);
    if (digest == null) {
      digest = of(Files.readAllBytes(jar));
      JARS.put(jar, digest);
    }
    return digest;
  }

  /** Somebody else has compiled it, for example Maven without build/maven. */
  private static String ofFolder(Path folder) throws IOException {
    MessageDigest all = sha256();
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path file : (Iterable<Path>) tree.filter(Files::isRegularFile).sorted()::iterator) {
        all.update(folder.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
        all.update(Files.readAllBytes(file));
      }
    }
    return HexFormat.of().formatHex(all.digest());
  }

  /** The file beside a module's classes, or its jar, that says what they were compiled from. */
  static Path origin(Path path) {
    String name = Files.isDirectory(path) ? path.getFileName().toString() : "classes";
    return path.resolveSibling(name + ".origin");
  }
}
