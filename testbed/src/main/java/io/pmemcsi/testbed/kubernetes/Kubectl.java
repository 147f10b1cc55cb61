package io.pmemcsi.testbed.kubernetes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * An administrator with kubectl. Where there is none, the test that asks for one is skipped.
 *
 * @param directory where the paths of files begin
 * @param cache where discovery is remembered; what another server served must not count
 */
public record Kubectl(Cluster cluster, Path directory, Path cache) {

  // not when it is first run, which may be in the middle of a wait or of the clean-up
  public Kubectl {
    Path _ = program();
  }

  private static Path program() {
    return Binaries.find().orSkip("kubectl", "an administrator needs it");
  }

  /** Returns what it prints; that it fails is an error. */
  public String run(String... arguments) {
    var command = new ArrayList<String>();
    command.add(program().toString());
    command.add("--cache-dir=" + cache);
    command.addAll(List.of(arguments));
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
      builder.environment().put("KUBECONFIG", cluster.kubeconfig().toString());
      Process process = builder.start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int code = process.waitFor();
      if (code != 0) {
        throw new IllegalStateException(
            "%s ended with exit code %d: %s".formatted(command, code, output));
      }
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run " + command, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while kubectl ran", e);
    }
  }
}
