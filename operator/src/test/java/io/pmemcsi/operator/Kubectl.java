package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.kubernetes.Cluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * An administrator with kubectl.
 *
 * @param cache where discovery is remembered; what another server served must not count
 */
record Kubectl(Cluster cluster, Path cache) {

  /** Runs it in the root of the project, and returns what it prints. */
  String run(String... arguments) {
    var command = new ArrayList<String>();
    command.add(Binaries.find().get("kubectl").toString());
    command.add("--cache-dir=" + cache);
    command.addAll(List.of(arguments));
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command).directory(Path.of("..").toFile()).redirectErrorStream(true);
      builder.environment().put("KUBECONFIG", cluster.kubeconfig().toString());
      Process process = builder.start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as("%s: %s", command, output).isZero();
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
