package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code render} prints is what kubectl takes. */
@WithKubernetes(controllers = false, perClass = true)
class RenderIT {

  /** Arguments: the sample, the version, kubectl, a directory for its cache. */
  private static final String PIPE =
      """
      set -eu -o pipefail
      ../bin/pmem-csi render -f "../deploy/samples/$1" --kubernetes-version "$2" |
        "$3" --cache-dir="$4" apply --dry-run=client -f -
      """;

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"pmem-csi.yaml", "pmem-csi-controller.yaml", "hostpath.yaml"})
  void kubectlTakesWhatRenderPrints(String sample, Cluster cluster) throws Exception {
    ProcessBuilder pipe =
        new ProcessBuilder(
                "bash",
                "-c",
                PIPE,
                "bash",
                sample,
                cluster.version().toString(),
                Binaries.find().orSkip("kubectl", "it takes what render prints").toString(),
                directory.toString())
            .redirectErrorStream(true);
    pipe.environment().put("KUBECONFIG", cluster.kubeconfig().toString());
    Process process = pipe.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output.lines()).hasSizeGreaterThan(3).allMatch(line -> line.endsWith("(dry run)"));
  }
}
