package io.pmemcsi.app.render;

import io.pmemcsi.base.error.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The files of a directory that a user names: those that kubectl reads. */
final class ResourceDirectory {

  private static final List<String> ENDS = List.of(".json", ".yaml", ".yml");

  private ResourceDirectory() {}

  /** Sorted by name; subdirectories are ignored. */
  static List<Path> files(Path directory) {
    List<Path> files;
    try (Stream<Path> entries = Files.list(directory)) {
      files =
          entries
              .filter(ResourceDirectory::isResource)
              .sorted(Comparator.comparing(ResourceDirectory::name))
              .toList();
    } catch (IOException e) {
      throw new UsageException(
          "%s cannot be read: %s".formatted(directory, ResourceFile.reason(e)), e);
    }
    if (files.isEmpty()) {
      throw new UsageException(
          "%s has no file that ends in .json, .yaml or .yml: name one that has, or a file; directories"
                  .formatted(directory)
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
