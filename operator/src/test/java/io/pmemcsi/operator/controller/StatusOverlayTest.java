package io.pmemcsi.operator.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

class StatusOverlayTest {

  private final StatusOverlay<PmemCSIDeployment, PmemCSIDeploymentStatus> own =
      new StatusOverlay<>();

  @Test
  void statusThatWeWroteCountsUntilTheCacheHasIt() {
    own.note(resource("uid", "100", "Running"));

    assertThat(newest(resource("uid", "99", "Failed")))
        .matches(it -> it.getStatus().phaseOrNew().equals("Running"))
        .matches(it -> it.getMetadata().getResourceVersion().equals("100"));
    assertThat(newest(resource("uid", "100", "Running")).getStatus().phase()).isEqualTo("Running");
    assertThat(newest(resource("uid", "101", "Failed")).getStatus().phase()).isEqualTo("Failed");
  }

  @Test
  void olderNoteDoesNotReplaceANewerOne() {
    own.note(resource("uid", "100", "Running"));
    own.note(resource("uid", "20", "Failed"));

    assertThat(newest(resource("uid", "9", "")).getStatus().phase()).isEqualTo("Running");
  }

  @Test
  void otherResourcesAndThoseThatAreGoneHaveNoPast() {
    own.note(resource("uid", "100", "Running"));

    assertThat(newest(resource("other", "1", "Failed")).getStatus().phase()).isEqualTo("Failed");
    own.forget(resource("uid", "100", "Running"));
    assertThat(newest(resource("uid", "1", "Failed")).getStatus().phase()).isEqualTo("Failed");
  }

  private PmemCSIDeployment newest(PmemCSIDeployment cached) {
    return own.newest(cached, new KubernetesSerialization());
  }

  private static PmemCSIDeployment resource(String uid, String version, String phase) {
    var resource = new PmemCSIDeployment();
    resource.setMetadata(
        new ObjectMetaBuilder().withName("a").withUid(uid).withResourceVersion(version).build());
    resource.setStatus(
        new PmemCSIDeploymentStatus(phase, null, 1L, List.of(), List.of(), List.of(), null, null));
    return resource;
  }
}
