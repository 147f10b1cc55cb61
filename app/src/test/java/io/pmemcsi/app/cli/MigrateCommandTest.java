package io.pmemcsi.app.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MigrateCommandTest {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private String input = "";

  @Test
  void aSampleBecomesAPmemCSIDeploymentAndRemarksGoToStandardError() {
    assertThat(run("migrate", "-f", "../deploy/samples/v1alpha1/pmem-csi.yaml")).isZero();

    assertThat(out.toString(UTF_8))
        .endsWith(
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            metadata:
              name: pmem-csi.intel.com
            spec:
              nodeSelector:
                storage: pmem
              deviceMode: lvm
              nodeResources:
                requests:
                  cpu: 200m
                  memory: 100Mi
            """);
    assertThat(err.toString(UTF_8)).contains("controllerResources has no counterpart");
  }

  @Test
  void aFileWithAnotherKindIsRejected() {
    input = "apiVersion: pmem-csi.intel.com/v1beta1\nkind: PmemCSIDeployment\nmetadata: {name: a}";

    assertThat(run("migrate", "-f", "-")).isEqualTo(1);

    assertThat(err.toString(UTF_8)).contains("document 1").contains("cannot be migrated");
  }

  @Test
  void oneSourceHasToBeNamed() {
    assertThat(run("migrate")).isEqualTo(2);
    assertThat(run("migrate", "-f", "-", "--name", "a")).isEqualTo(2);

    assertThat(err.toString(UTF_8)).contains("either -f FILE or --name NAME");
  }

  private int run(String... arguments) {
    return Program.run(
        List.of(arguments),
        new CliEnvironment(
            Map.of(),
            new ByteArrayInputStream(input.getBytes(UTF_8)),
            new PrintStream(out, true, UTF_8),
            new PrintStream(err, true, UTF_8)));
  }
}
