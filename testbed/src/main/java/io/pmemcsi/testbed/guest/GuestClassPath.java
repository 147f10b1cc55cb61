package io.pmemcsi.testbed.guest;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * Brings parts of this JVM's class path into the guest, as jars: single class files are slow to
 * open over there.
 */
public final class GuestClassPath {
  private GuestClassPath() {}

  /** Copies the entries that are wanted and gives the class path to be used in the guest. */
  public static String copy(PmemGuest guest, Predicate<Path> wanted) {
    Path library = guest.program().resolve("lib");
    List<String> entries = new ArrayList<>();
    try {
      Files.createDirectories(library);
      String classPath = System.getProperty("java.class.path");
      for (String element : classPath.split(File.pathSeparator, -1)) {
        Path source = Path.of(element);
        if (!Files.exists(source) || !wanted.test(source)) {
          continue;
        }
        String name = "%02d-%s".formatted(entries.size(), jarName(source));
        if (Files.isDirectory(source)) {
          pack(source, library.resolve(name));
        } else {
          Files.copy(source, library.resolve(name), StandardCopyOption.REPLACE_EXISTING);
        }
        entries.add("/program/lib/" + name);
      }
    } catch (IOException e) {
      throw new GuestException("cannot copy the class path to " + library, e);
    }
    return String.join(":", entries);
  }

  private static String jarName(Path source) {
    String name = source.getFileName().toString();
    return Files.isDirectory(source) ? name + ".jar" : name;
  }

  private static void pack(Path folder, Path jar) throws IOException {
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file);
        Stream<Path> tree = Files.walk(folder)) {
      out.setLevel(0); // unpacking would cost time in the guest
      for (Path path : (Iterable<Path>) tree.filter(Files::isRegularFile).sorted()::iterator) {
        out.putNextEntry(new JarEntry(folder.relativize(path).toString()));
        Files.copy(path, out);
        out.closeEntry();
      }
    }
  }
}
