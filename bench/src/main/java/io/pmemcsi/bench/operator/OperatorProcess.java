package io.pmemcsi.bench.operator;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code bin/pmem-csi operator} with the settings and the rights that it has in a cluster, leader
 * election included.
 */
final class OperatorProcess implements AutoCloseable {

  static final String IMAGE = "registry.example.com/pmem-csi-driver:bench";

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final Pattern USED = Pattern.compile("total (\\d+)K, used (\\d+)K");
  private static final double KIB_PER_MB = 1_000_000 / 1024.0;

  private final ChildProcess process;
  private final double secondsUntilReady;

  private OperatorProcess(ChildProcess process, double secondsUntilReady) {
    this.process = process;
    this.secondsUntilReady = secondsUntilReady;
  }

  /** Returns when it says that it is ready, and leads. */
  static OperatorProcess start(Sandbox sandbox, Path kubeconfig) throws IOException {
    int port;
    try (var free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    Path log = Files.createTempFile("pmem-csi-operator-", ".log");
    long start = System.nanoTime();
    var process =
        ChildProcess.start(
            "operator",
            log,
            List.of(),
            List.of(
                Path.of("bin/pmem-csi").toAbsolutePath().toString(),
                "operator",
                "--kubeconfig=" + kubeconfig,
                "--image=" + IMAGE,
                "--leader-election",
                "--metrics-addr=127.0.0.1:" + port),
            Map.of("WATCH_NAMESPACE", sandbox.namespace()));
    process.awaitReady(LIMIT, () -> isReady(port));
    double seconds = (System.nanoTime() - start) / 1e9;
    process.awaitReady(LIMIT, () -> leads(sandbox));
    return new OperatorProcess(process, seconds);
  }

  /** From its start until it says that it is ready; watches are synchronized then. */
  double secondsUntilReady() {
    return secondsUntilReady;
  }

  /** Each replica releases the lease when it ends, so the holder is this one. */
  private static boolean leads(Sandbox sandbox) {
    Lease lease =
        sandbox
            .client()
            .leases()
            .inNamespace(sandbox.namespace())
            .withName(OperatorProgram.LEASE)
            .get();
    return lease != null
        && lease.getSpec().getHolderIdentity() != null
        && !lease.getSpec().getHolderIdentity().isEmpty();
  }

  /** The heap that it has taken from the machine, in MB. */
  double committedHeap() throws IOException, InterruptedException {
    return heap(1);
  }

  /** What is left in the heap after a collection, in MB. */
  double liveHeap() throws IOException, InterruptedException {
    jcmd("GC.run");
    return heap(2);
  }

  /** All memory of the process, in MiB. */
  double resident() throws IOException {
    String line =
        Files.readAllLines(Path.of("/proc/%d/status".formatted(process.pid()))).stream()
            .filter(text -> text.startsWith("VmRSS:"))
            .findFirst()
            .orElseThrow(() -> new IOException("no VmRSS of process " + process.pid()));
    return Double.parseDouble(line.replaceAll("\\D", "")) / 1024;
  }

  @Override
  public void close() {
    try {
      process.end(LIMIT);
    } finally {
      process.close();
    }
    try {
      Files.deleteIfExists(process.log());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException("cannot delete " + process.log(), e);
    }
  }

  /** Sums over the generations of the heap. */
  private double heap(int group) throws IOException, InterruptedException {
    Matcher matcher = USED.matcher(jcmd("GC.heap_info"));
    double kib = 0;
    while (matcher.find()) {
      kib += Double.parseDouble(matcher.group(group));
    }
    if (kib == 0) {
      throw new IOException("jcmd says nothing about the heap of process " + process.pid());
    }
    return kib / KIB_PER_MB;
  }

  private String jcmd(String command) throws IOException, InterruptedException {
    Process jcmd =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(process.pid()),
                command)
            .redirectErrorStream(true)
            .start();
    String output = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (jcmd.waitFor() != 0) {
      throw new IOException("jcmd %s failed: %s".formatted(command, output));
    }
    return output;
  }

  private static boolean isReady(int port) {
    try (var http = HttpClient.newHttpClient()) {
      return http.send(
                  HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/readyz".formatted(port)))
                      .build(),
                  HttpResponse.BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException _) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
