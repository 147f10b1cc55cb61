package io.pmemcsi.app.render;

import io.pmemcsi.base.error.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Which files of a folder are meant where a user names the folder: those that kubectl takes. */
final class ResourceDirectory {

  private static final List<String> ENDS = List.of(".json", ".yaml", ".yml");

  private ResourceDirectory() {}

  /** By name; folders inside are not looked into. */
  static List<Path> files(Path folder) {
    List<Path> files;
    try (Stream<Path> entries = Files.list(folder)) {
      files =
          entries
              .filter(ResourceDirectory::isResource)
              .sorted(Comparator.comparing(ResourceDirectory::name))
              .toList();
    } catch (IOException e) {
      throw new UsageException(
          "%s cannot be read: %s".formatted(folder, ResourceFile.reason(e)), e);
    }
    if (files.isEmpty()) {
      throw new UsageException(
          "%s has no file that ends in .json, .yaml or .yml: name one that has, or a file; folders"
                  .formatted(folder)
              + " inside are not looked into");
    }
    return files;
  }

  private static boolean isResource(Path file) {
    return ENDS.stream().anyMatch(name(file)::endsWith) && !Files.isDirectory(file);
  }

  private static String name(Path file) {
    return String.valueOf(file.getFileName());
  }
}
