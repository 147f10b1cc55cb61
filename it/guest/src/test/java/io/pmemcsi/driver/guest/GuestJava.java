package io.pmemcsi.driver.guest;

import io.pmemcsi.testbed.guest.GuestClassPath;
import io.pmemcsi.testbed.guest.PmemGuest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How a program of this module is started in the guest, where a JVM is very slow: with a cache of
 * classes that were loaded and linked on the host.
 */
final class GuestJava {
  private static final List<String> NOT_NEEDED =
      List.of(
          "junit", "assertj", "awaitility", "fabric8", "testbed", "bcp", "snakeyaml", "archunit");
  private static final List<String> OPTIONS =
      List.of(
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-Xmx48m", // as the launcher does it: it also limits the memory that erasing needs
          "-Xlog:aot=off",
          "-Xlog:cds=off",
          "--enable-native-access=ALL-UNNAMED");
  private static final String SHARE = "/host/";
  private static final String CACHE = "driver.aot";

  /** The class path in the guest, by the folder that a guest shares with the host. */
  private static final Map<Path, String> READY = new ConcurrentHashMap<>();

  private GuestJava() {}

  static String commandLine(PmemGuest guest, Class<?> program, Object... arguments) {
    String classPath = READY.computeIfAbsent(guest.share(), _ -> prepare(guest));
    List<String> line = new ArrayList<>(List.of("/jdk/bin/java"));
    line.addAll(OPTIONS);
    line.add("-XX:AOTCache=" + SHARE + CACHE);
    int verbosity = Integer.getInteger("pmem-csi.v", 0);
    if (verbosity > 0) {
      line.add("-Dpmem-csi.v=" + verbosity);
    }
    // verifying classes takes most of the start, and the compiler on the host made them
    line.addAll(List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"));
    line.addAll(List.of("-cp", classPath, program.getName()));
    for (Object argument : arguments) {
      line.add(argument.toString());
    }
    return String.join(" ", line);
  }

  private static String prepare(PmemGuest guest) {
    String classPath =
        GuestClassPath.copy(
            guest, path -> NOT_NEEDED.stream().noneMatch(path.getFileName().toString()::contains));
    train(guest.share(), classPath.replace(SHARE, guest.share() + "/"));
    return classPath;
  }

  private static void train(Path share, String classPath) {
    try {
      Path folder = Files.createDirectories(share.resolve("training"));
      Path log = share.resolve("training.log");
      List<String> line = new ArrayList<>();
      line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      line.addAll(OPTIONS);
      line.add("-XX:AOTCacheOutput=" + share.resolve(CACHE));
      line.addAll(List.of("-cp", classPath, TrainingMain.class.getName(), folder.toString()));
      int exit =
          new ProcessBuilder(line)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start()
              .waitFor();
      if (exit != 0 || !Files.exists(share.resolve(CACHE))) {
        throw new IllegalStateException(
            "no class cache for the guest, exit code %d: %s"
                .formatted(exit, Files.readString(log, StandardCharsets.UTF_8)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a class cache in " + share, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while making a class cache", e);
    }
  }
}
