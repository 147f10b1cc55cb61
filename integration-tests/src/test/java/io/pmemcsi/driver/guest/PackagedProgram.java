package io.pmemcsi.driver.guest;

import io.pmemcsi.testbed.guest.PmemGuest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The packaged program in the program directory of the guest: launcher, jars and AOT caches,
 * without which a JVM takes twice as long to start in the guest.
 */
final class PackagedProgram {
  /** Where the jars are in the guest. */
  static final String HOME = "/program/lib/pmem-csi";

  /**
   * Compiles less: on the single emulated processor, compiling costs more than it saves. An AOT
   * cache that does not match is an error here; by default it would only be slow.
   */
  static final String JAVA_OPTIONS = "-XX:CompileThresholdScaling=20 -XX:AOTMode=on";

  static final String DRIVER = driver(JAVA_OPTIONS);

  /** With the Kubernetes client in its AOT cache, which the node driver never loads. */
  static final String CONVERSION =
      driver(JAVA_OPTIONS + " -XX:AOTCache=" + HOME + "/aot/conversion.aot")
          + " -mode=force-convert-raw-namespaces";

  /** Points to a port on the loopback interface. */
  static final String KUBECONFIG =
      """
      {"apiVersion": "v1", "kind": "Config", "current-context": "c",
       "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:%d"}}],
       "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
       "users": [{"name": "u", "user": {"token": "t"}}]}
      """;

  private static final Path ROOT = Path.of("..");
  private static final Path BUILT = ROOT.resolve("app/target");

  private static final Set<Path> INSTALLED = new HashSet<>();

  private PackagedProgram() {}

  private static String driver(String javaOptions) {
    return "env PMEM_CSI_JAVA_OPTIONS='%s' /program/bin/pmem-csi-driver".formatted(javaOptions);
  }

  /** Installs the program once per guest and replaces an earlier build. */
  static synchronized void install(PmemGuest guest) {
    Path program = guest.program();
    if (!INSTALLED.add(program)) {
      return;
    }
    try {
      // a no-op if there is a cache for this build
      train(0, ROOT.resolve("build/train-aot").toString());
      copy(ROOT.resolve("bin/pmem-csi"), program.resolve("bin/pmem-csi"));
      copy(ROOT.resolve("bin/pmem-csi"), program.resolve("bin/pmem-csi-driver"));
      Path home = program.resolve("lib/pmem-csi");
      copy(BUILT.resolve("pmem-csi.jar"), home.resolve("pmem-csi.jar"));
      copyAll(BUILT.resolve("lib"), home.resolve("lib"));
      copyAll(BUILT.resolve("aot"), home.resolve("aot"));
      Path runtime = home.resolve("runtime");
      Files.deleteIfExists(runtime);
      Files.createSymbolicLink(runtime, Path.of("/jdk"));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot put the program into " + program, e);
    }
  }

  /**
   * The same with an AOT cache for the conversion. The training run is an operator without an API
   * server: it loads the same client classes and does not access PMEM.
   */
  static void installConversion(PmemGuest guest) {
    install(guest);
    Path home = guest.program().resolve("lib/pmem-csi");
    Path nowhere = guest.program().resolve("nowhere.json");
    try {
      Files.writeString(nowhere, KUBECONFIG.formatted(1));
      train(
          1,
          Path.of(System.getProperty("java.home"), "bin/java").toString(),
          "-XX:+UseSerialGC",
          "-XX:+UseCompactObjectHeaders",
          "-XX:TieredStopAtLevel=1",
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:-AOTRecordTraining",
          "-XX:-AOTAdapterCaching",
          "-XX:-AOTStubCaching",
          "-XX:AOTCacheOutput=" + home.resolve("aot/conversion.aot"),
          "--enable-native-access=ALL-UNNAMED",
          "-cp",
          home.resolve("pmem-csi.jar").toString(),
          "io.pmemcsi.app.Main",
          "operator",
          "-image=none",
          "--kubeconfig=" + nowhere);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a cache for the conversion", e);
    }
  }

  private static void train(int exitCode, String... command) throws IOException {
    Path log = Files.createTempFile("training", ".log");
    ProcessBuilder training = new ProcessBuilder(command);
    training.environment().put("PMEM_CSI_JDK", System.getProperty("java.home"));
    Process process = training.redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      if (process.onExit().join().exitValue() != exitCode) {
        throw new IOException(Files.readString(log));
      }
    } finally {
      Files.delete(log);
    }
  }

  private static void copyAll(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(Objects.requireNonNull(to.getParent()));
    // the JVM verifies the modification times of the jars in its cache
    Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
  }
}
