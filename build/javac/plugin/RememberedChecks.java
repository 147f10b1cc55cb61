package io.pmemcsi.build;

import com.sun.source.util.JavacTask;
import com.sun.source.util.Plugin;
import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;
import com.sun.tools.javac.api.BasicJavacTask;
import com.sun.tools.javac.util.Context;
import com.sun.tools.javac.util.Log;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.tools.JavaFileManager;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;

/**
 * Error Prone, but not for what it has found good before: the same sources on the same class path,
 * by the same version with the same options. It is two thirds of all compiling, and most of the
 * time most modules are what they were. Where the user's cache knows nothing, or cannot be read,
 * everything is checked.
 *
 * <p>javac itself, with its own warnings, always looks at all of it.
 */
public final class RememberedChecks implements Plugin {

  private static final Duration KEPT = Duration.ofDays(30);

  @Override
  public String getName() {
    return "ErrorProne";
  }

  @Override
  public void init(JavacTask task, String... options) {
    Context context = ((BasicJavacTask) task).getContext();
    var checks = new Checks(context);
    errorProne().init(checks, options);
    Path memory = Path.of(System.getProperty("pmem-csi.javac.memory"));
    task.addTaskListener(new Gate(context, checks, List.of(options), memory));
  }

  private static Plugin errorProne() {
    return ServiceLoader.load(Plugin.class, RememberedChecks.class.getClassLoader()).stream()
        .filter(provider -> provider.type() != RememberedChecks.class)
        .map(ServiceLoader.Provider::get)
        .filter(plugin -> plugin.getName().equals("ErrorProne"))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no Error Prone on the processor path"));
  }

  /** What a plugin takes for javac's task: it keeps those who want to listen. */
  private static final class Checks extends BasicJavacTask {
    private final List<TaskListener> listeners = new ArrayList<>();

    Checks(Context context) {
      super(context, false);
    }

    @Override
    public void addTaskListener(TaskListener listener) {
      listeners.add(listener);
    }
  }

  /** Lets events through to the checks, unless all that they would see is known to be good. */
  private static final class Gate implements TaskListener {
    private final Context context;
    private final Checks checks;
    private final List<String> options;
    private final Path memory;
    private final TreeSet<String> sources = new TreeSet<>();
    private Path record;
    private boolean known;

    Gate(Context context, Checks checks, List<String> options, Path memory) {
      this.context = context;
      this.checks = checks;
      this.options = options;
      this.memory = memory;
    }

    @Override
    public void started(TaskEvent event) {
      // all files are parsed before the first one is analyzed
      if (event.getKind() == TaskEvent.Kind.ANALYZE && record == null) {
        String key = key();
        sign(key);
        record = memory.resolve(key);
        known = Files.exists(record);
      }
      if (!known) {
        checks.listeners.forEach(listener -> listener.started(event));
      }
    }

    @Override
    public void finished(TaskEvent event) {
      if (event.getKind() == TaskEvent.Kind.PARSE) {
        sources.add(digest(event));
      }
      if (!known) {
        checks.listeners.forEach(listener -> listener.finished(event));
      }
      if (event.getKind() == TaskEvent.Kind.COMPILATION && record != null && isGood()) {
        remember();
      }
    }

    private static String digest(TaskEvent event) {
      try {
        CharSequence text = event.getSourceFile().getCharContent(true);
        return Digests.of(text.toString().getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException("cannot read " + event.getSourceFile().getName(), e);
      }
    }

    private boolean isGood() {
      Log log = Log.instance(context);
      return log.nerrors == 0 && log.nwarnings == 0;
    }

    private String key() {
      List<String> all = new ArrayList<>(sources);
      all.addAll(options);
      all.add(Runtime.version().toString());
      all.addAll(digests(StandardLocation.CLASS_PATH));
      all.addAll(digests(StandardLocation.ANNOTATION_PROCESSOR_PATH));
      return Digests.of(String.join("\n", all).getBytes(StandardCharsets.UTF_8));
    }

    /** Modules that depend on this one take the key for its classes. */
    private void sign(String key) {
      for (Path output : paths(StandardLocation.CLASS_OUTPUT)) {
        try {
          Files.createDirectories(output);
          Files.writeString(Digests.origin(output), key);
        } catch (IOException e) {
          throw new UncheckedIOException("cannot write beside " + output, e);
        }
      }
    }

    private List<String> digests(StandardLocation location) {
      List<Path> aside = paths(StandardLocation.CLASS_OUTPUT);
      // Maven's compiler ends the class path with an empty entry
      aside.add(Path.of("").toAbsolutePath());
      return paths(location).stream()
          .filter(path -> !aside.contains(path))
          .map(Digests::of)
          .toList();
    }

    private List<Path> paths(StandardLocation location) {
      var files = (StandardJavaFileManager) context.get(JavaFileManager.class);
      List<Path> all = new ArrayList<>();
      Iterable<? extends Path> paths = files.getLocationAsPaths(location);
      if (paths != null) {
        paths.forEach(path -> all.add(path.toAbsolutePath().normalize()));
      }
      return all;
    }

    /** A memory that cannot be written is none. */
    private void remember() {
      try {
        Files.createDirectories(memory);
        if (known) {
          Files.setLastModifiedTime(record, FileTime.from(Instant.now()));
        } else {
          Files.write(record, new byte[0]);
          forgetOld();
        }
      } catch (IOException e) {
        // the next build checks again
      }
    }

    private void forgetOld() throws IOException {
      FileTime limit = FileTime.from(Instant.now().minus(KEPT));
      try (Stream<Path> records = Files.list(memory)) {
        for (Path each : (Iterable<Path>) records::iterator) {
          if (Files.getLastModifiedTime(each).compareTo(limit) < 0) {
            Files.deleteIfExists(each);
          }
        }
      }
    }
  }
}
