package io.pmemcsi.bench.driver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The program as a node starts it, in device mode file, in a directory of its own. */
final class NodeProcess implements AutoCloseable {

  private static final Duration START = Duration.ofSeconds(60);

  private final Path directory;
  private final Process process;
  private final CsiClient csi;

  private NodeProcess(Path directory, Process process, CsiClient csi) {
    this.directory = directory;
    this.process = process;
    this.csi = csi;
  }

  static Path newDirectory() throws IOException {
    Path directory = Files.createTempDirectory("pmem-csi-bench").toRealPath();
    Files.createDirectory(directory.resolve("pods"));
    return directory;
  }

  /** Starts the driver and waits until it answers. */
  static NodeProcess start(Path directory) throws Exception {
    return start(directory, List.of("-mode=node", "-deviceManager=file"));
  }

  /** The same with these flags, beside those that every process has. */
  static NodeProcess start(Path directory, List<String> flags) throws Exception {
    return start(directory, "bench", flags);
  }

  static NodeProcess start(Path directory, String nodeId, List<String> flags) throws Exception {
    Path socket = directory.resolve("csi.sock");
    List<String> command = new ArrayList<>();
    command.add("bin/pmem-csi-driver");
    command.addAll(flags);
    command.add("-nodeid=" + nodeId);
    command.add("-metricsListen=127.0.0.1:0");
    command.add("-endpoint=unix://" + socket);
    command.add("-statePath=" + directory.resolve("state"));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("driver.log").toFile())
            .start();
    long deadline = System.nanoTime() + START.toNanos();
    // a gRPC call before the driver listens would make the client wait before it tries again
    while (!Files.exists(socket)) {
      if (!process.isAlive() || System.nanoTime() > deadline) {
        process.destroyForcibly();
        throw new IOException(
            "the driver did not start: " + Files.readString(directory.resolve("driver.log")));
      }
      Thread.sleep(1);
    }
    CsiClient csi = CsiClient.onSocket(socket);
    NodeProcess node = new NodeProcess(directory, process, csi);
    while (!csi.answers()) {
      if (!process.isAlive()) {
        node.close();
        throw new IOException("the driver has ended");
      }
    }
    return node;
  }

  CsiClient csi() {
    return csi;
  }

  String pod(String name) {
    return directory.resolve("pods").resolve(name).toString();
  }

  /** The memory that the process has in RAM. */
  double residentMiB() throws IOException {
    return statusMiB("VmRSS:");
  }

  /** The part of it that no file backs: heap, compiled code, stacks and the like. */
  double anonymousMiB() throws IOException {
    return statusMiB("RssAnon:");
  }

  private double statusMiB(String field) throws IOException {
    return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
            .filter(line -> line.startsWith(field))
            .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
            .findFirst()
            .orElseThrow()
        / 1024.0;
  }

  /** Ends the driver as kill -9 does. */
  void kill() {
    csi.close();
    process.destroyForcibly().onExit().join();
  }

  /** Ends the driver; volumes stay as they are. */
  @Override
  public void close() {
    csi.close();
    process.destroy();
    process.onExit().completeOnTimeout(process, 30, TimeUnit.SECONDS).join();
    process.destroyForcibly().onExit().join();
  }

  static void remove(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
