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
 * The program as it is packed, in the guest's folder for programs: the launcher, the jars and the
 * caches of classes, without which a JVM takes twice as long to start in the guest.
 */
final class PackedProgram {
  /** Where the jars are in the guest. */
  static final String HOME = "/program/lib/pmem-csi";

  /**
   * Compiling less: a compiler that is emulated costs more than what it compiles saves, and takes
   * its time from the only processor. And a cache of classes that does not fit is a mistake here,
   * which would otherwise only be slow.
   */
  static final String JAVA_OPTIONS = "-XX:CompileThresholdScaling=20 -XX:AOTMode=on";

  static final String DRIVER = driver(JAVA_OPTIONS);

  /** With the Kubernetes client in its cache, which the driver of a node never loads. */
  static final String CONVERSION =
      driver(JAVA_OPTIONS + " -XX:AOTCache=" + HOME + "/aot/conversion.aot")
          + " -mode=force-convert-raw-namespaces";

  /** Leads to a port of the loopback. */
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

  private PackedProgram() {}

  private static String driver(String javaOptions) {
    return "env PMEM_CSI_JAVA_OPTIONS='%s' /program/bin/pmem-csi-driver".formatted(javaOptions);
  }

  /** Once for each guest; a program that was built anew takes the place of the old one. */
  static synchronized void install(PmemGuest guest) {
    Path program = guest.program();
    if (!INSTALLED.add(program)) {
      return;
    }
    try {
      // at once where there is a cache for this build
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
   * The same with a cache for the conversion. An operator that finds no API server loads what the
   * conversion does to reach one, and touches no memory of this machine.
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
    // the JVM knows the jars of its cache by their times
    Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
  }
}
