package io.pmemcsi.build;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Keeps the plugins of javac loaded from module to module. javac makes a class loader for them at
 * each call and closes it at the end; Error Prone is so large that most of a short compilation was
 * loading it and making machine code of it again. javac makes one of these instead, as the option
 * {@code -XDprocloader} says, and leaves it at its own where it finds no such class.
 *
 * <p>It has nothing of its own: all that it gives comes from its parent, which stays open.
 */
public final class SharedProcessors extends ClassLoader {

  private static final Map<List<String>, ClassLoader> LOADERS = new ConcurrentHashMap<>();

  /** Called by javac. */
  public SharedProcessors(URL[] jars, ClassLoader parent) {
    // not by the URLs themselves, whose equals may ask the network
    super(
        LOADERS.computeIfAbsent(
            Arrays.stream(jars).map(URL::toString).toList(),
            _ -> new URLClassLoader(withOurOwn(jars), parent)));
  }

  /** Of two plugins with one name javac takes the first: ours, which calls the other. */
  private static URL[] withOurOwn(URL[] jars) {
    String folder = System.getProperty("pmem-csi.javac.plugin", "");
    if (folder.isEmpty()) {
      return jars;
    }
    try {
      URL own = Path.of(folder).toUri().toURL();
      return Stream.concat(Stream.of(own), Arrays.stream(jars)).toArray(URL[]::new);
    } catch (MalformedURLException e) {
      throw new IllegalStateException("not a folder: " + folder, e);
    }
  }
}
