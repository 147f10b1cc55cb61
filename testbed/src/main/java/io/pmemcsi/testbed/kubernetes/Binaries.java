package io.pmemcsi.testbed.kubernetes;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** The directory with the programs of Kubernetes. */
public final class Binaries {

  /** What {@code testbed/kubernetes/binaries} builds. */
  private static final String CACHED_VERSION = "1.20.2";

  private final Path directory;

  private Binaries(Path directory) {
    this.directory = directory;
  }

  /**
   * The directory that KUBEBUILDER_ASSETS names, else the one in the user's cache. It has etcd and
   * kube-apiserver at least.
   */
  public static Binaries find() {
    return find(System.getenv());
  }

  static Binaries find(Map<String, String> environment) {
    String assets = environment.getOrDefault("KUBEBUILDER_ASSETS", "");
    boolean given = !assets.isEmpty();
    Binaries binaries = new Binaries(given ? Path.of(assets) : cache(environment));
    for (String program : new String[] {"etcd", "kube-apiserver"}) {
      if (binaries.find(program).isEmpty()) {
        throw new IllegalStateException(
            "no program %s in %s: %s"
                .formatted(
                    program,
                    binaries.directory,
                    given
                        ? "let KUBEBUILDER_ASSETS name a directory that has it, or unset it"
                        : "run 'make setup'"));
      }
    }
    return binaries;
  }

  private static Path cache(Map<String, String> environment) {
    String home = environment.getOrDefault("HOME", System.getProperty("user.home"));
    String xdg = environment.getOrDefault("XDG_CACHE_HOME", "");
    Path root = xdg.isEmpty() ? Path.of(home, ".cache") : Path.of(xdg);
    return root.resolve("pmem-csi").resolve("kubernetes").resolve(CACHED_VERSION);
  }

  public Path directory() {
    return directory;
  }

  /** The program's path, or nothing where the directory does not have it. */
  public Optional<Path> find(String program) {
    Path path = directory.resolve(program);
    return Files.isExecutable(path) ? Optional.of(path) : Optional.empty();
  }

  /** The program's path; an exception with a way out where the directory does not have it. */
  public Path get(String program) {
    return find(program).orElseThrow(() -> new MissingProgramException(program, directory));
  }

  /**
   * The program's path; a test that needs one which the directory does not have is skipped.
   *
   * @param need what the program is needed for, for the message
   */
  public Path orSkip(String program, String need) {
    return find(program)
        .orElseGet(
            () -> Assumptions.abort("no program %s in %s: %s".formatted(program, directory, need)));
  }

  /** The version of the API server, asked from the program itself. */
  public KubernetesVersion version() {
    try {
      Process process =
          new ProcessBuilder(get("kube-apiserver").toString(), "--version")
              .redirectErrorStream(true)
              .start();
      try (InputStream output = process.getInputStream()) {
        return KubernetesVersion.parse(new String(output.readAllBytes(), StandardCharsets.UTF_8));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run kube-apiserver", e);
    }
  }

  /** Says which program of Kubernetes a test would need and does not have. */
  public static final class MissingProgramException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    MissingProgramException(String program, Path directory) {
      super(
          "no program %s in %s: put it there, or unset KUBEBUILDER_ASSETS and run 'make setup'"
              .formatted(program, directory));
    }
  }
}
