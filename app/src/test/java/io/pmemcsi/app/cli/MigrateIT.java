package io.pmemcsi.app.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code migrate} with resources of a real cluster. */
@WithKubernetes
class MigrateIT {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private Sandbox sandbox;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    Definitions.install(sandbox.client(), Path.of("../deploy/crd"));
  }

  @Test
  void theOutputForAResourceOfTheClusterIsAcceptedByItsServer() {
    sandbox.create(
        sandbox
            .client()
            .getKubernetesSerialization()
            .unmarshal(
                """
                metadata: {name: to-migrate, labels: {team: storage}}
                spec:
                  driverName: migrated.example.com
                  deviceMode: direct
                  nodeSelector: {storage: "true"}
                  pmemPercentage: 50
                """,
                LegacyDeployment.class));

    assertThat(migrate("to-migrate")).as(err::toString).isZero();

    String yaml = out.toString(UTF_8);
    assertThat(yaml)
        .endsWith(
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            metadata:
              name: migrated.example.com
              labels:
                team: storage
            spec:
              nodeSelector:
                storage: "true"
              deviceMode: direct
              pmemPercentage: 50
            """);
    HasMetadata accepted = sandbox.client().resource(yaml).dryRun().create();
    assertThat(accepted.getKind()).isEqualTo("PmemCSIDeployment");
    assertThat(err.toString(UTF_8)).contains("migrated.example.com instead of to-migrate");
  }

  @Test
  void aMissingResourceIsAnError() {
    assertThat(migrate("nothing")).isEqualTo(1);
    assertThat(err.toString(UTF_8))
        .contains("there is no deployments.pmem-csi.intel.com \"nothing\"");
  }

  private int migrate(String name) {
    return Program.run(
        List.of("migrate", "--name=" + name, "--kubeconfig=" + sandbox.cluster().kubeconfig()),
        new CliEnvironment(
            Map.of(),
            new ByteArrayInputStream(new byte[0]),
            new PrintStream(out, true, UTF_8),
            new PrintStream(err, true, UTF_8)));
  }
}
