package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code render} prints is what kubectl takes. */
@WithKubernetes(controllers = false, perClass = true)
class RenderIT {

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"pmem-csi.yaml", "pmem-csi-controller.yaml"})
  void kubectlTakesWhatRenderPrints(String sample, Cluster cluster) throws Exception {
    Path rendered = folder.resolve(sample);
    Files.writeString(
        rendered, render("../deploy/samples/" + sample, cluster.version().toString()));

    Process kubectl =
        kubectl(cluster, "apply", "--dry-run=client", "-f", rendered.toString()).start();
    String output = new String(kubectl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(kubectl.waitFor()).as(output).isZero();
    assertThat(output.lines()).hasSizeGreaterThan(10).allMatch(line -> line.endsWith("(dry run)"));
  }

  private static String render(String file, String version) {
    var out = new ByteArrayOutputStream();
    var err = new ByteArrayOutputStream();
    int code =
        Program.run(
            List.of("render", "-f", file, "--kubernetes-version", version),
            new Surroundings(
                Map.of(),
                new ByteArrayInputStream(new byte[0]),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8)));
    assertThat(code).as(err.toString(StandardCharsets.UTF_8)).isZero();
    return out.toString(StandardCharsets.UTF_8);
  }

  private ProcessBuilder kubectl(Cluster cluster, String... arguments) {
    var command = new ArrayList<String>();
    command.add(Binaries.find().get("kubectl").toString());
    command.add("--cache-dir=" + folder.resolve("discovery"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("KUBECONFIG", cluster.kubeconfig().toString());
    return builder;
  }
}
