package io.pmemcsi.api.pmem;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class PmemCSIDeploymentTest {

  @Test
  void aResourceWithoutSpecAndStatusHasEmptyOnes() {
    PmemCSIDeployment resource =
        read("apiVersion: pmem-csi.intel.com/v1beta1\nkind: PmemCSIDeployment\nspec:\nstatus:\n");

    assertThat(resource.getSpec()).isEqualTo(PmemCSIDeploymentSpec.EMPTY);
    assertThat(resource.getStatus().phaseOrNew()).isEmpty();
    assertThat(new PmemCSIDeployment().getSpec()).isEqualTo(PmemCSIDeploymentSpec.EMPTY);
  }

  @Test
  void aChoiceThatDoesNotExistCanStillBeRead() {
    PmemCSIDeployment resource = read("spec: {deviceMode: tape}");

    assertThat(resource.getSpec().deviceMode()).isEqualTo("tape");
  }

  @Test
  void timesAreWrittenAsKubernetesDoes() {
    PmemCSIDeployment resource = new PmemCSIDeployment();
    Instant time = Instant.parse("2026-01-02T03:04:05.678Z");
    resource.setStatus(
        new PmemCSIDeploymentStatus(
            PmemCSIDeploymentStatus.PHASE_RUNNING,
            null,
            1L,
            List.of(
                new DeploymentCondition(
                    DeploymentCondition.DRIVER_DEPLOYED, "True", "Deployed", null, time, time, 1L)),
            List.of(),
            List.of(),
            List.of(),
            null,
            time));

    String yaml = Serialization.asYaml(resource);

    assertThat(yaml)
        .contains(
            "lastUpdateTime: \"2026-01-02T03:04:05Z\"",
            "lastTransitionTime: \"2026-01-02T03:04:05Z\"",
            "lastUpdated: \"2026-01-02T03:04:05Z\"")
        .doesNotContain("driverComponents", "null");
    assertThat(read(yaml).getStatus()).isEqualTo(resource.getStatus());
  }

  private static PmemCSIDeployment read(String yaml) {
    return Serialization.unmarshal(yaml, PmemCSIDeployment.class);
  }
}
