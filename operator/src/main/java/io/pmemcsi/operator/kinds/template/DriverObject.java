package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.fabric8.kubernetes.api.model.storage.CSIDriverSpec;
import io.fabric8.kubernetes.api.model.storage.TokenRequest;
import io.fabric8.kubernetes.api.model.storage.TokenRequestBuilder;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.template.CSIDriverOptions;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.facts.ServedApi;
import java.util.List;
import java.util.Optional;

/** The CSIDriver, with the fields that the version of the server knows. */
record DriverObject(TemplateDriver driver) {

  CSIDriver csiDriver() {
    return csiDriver(driver.driverName());
  }

  /** Of a driver that volumes still need although the resource names another one. */
  CSIDriver csiDriver(String name) {
    CSIDriverOptions options = driver.settings().csiDriver();
    CSIDriver object =
        new CSIDriverBuilder()
            .withMetadata(driver.clusterWide(name))
            .withNewSpec()
            .withAttachRequired(
                Optional.ofNullable(options.attachRequired()).orElseGet(this::attaches))
            .withPodInfoOnMount(Boolean.TRUE.equals(options.podInfoOnMount()))
            .withVolumeLifecycleModes(
                Optional.ofNullable(options.volumeLifecycleModes())
                    .filter(modes -> !modes.isEmpty())
                    .orElse(List.of("Persistent")))
            .endSpec()
            .build();
    Written.text(options.fsGroupPolicy()).ifPresent(object.getSpec()::setFsGroupPolicy);
    addNewer(object.getSpec(), options);
    return object;
  }

  /** Fields that came, or came into use by default, after the oldest supported version. */
  private void addNewer(CSIDriverSpec spec, CSIDriverOptions options) {
    KubernetesVersion version = driver.facts().version();
    if (options.storageCapacity() != null && driver.facts().serves(ServedApi.STORAGE_CAPACITY)) {
      spec.setStorageCapacity(options.storageCapacity());
    }
    if (version.atLeast(1, 21)) {
      spec.setRequiresRepublish(options.requiresRepublish());
      spec.setTokenRequests(
          Optional.ofNullable(options.tokenRequests()).orElse(List.of()).stream()
              .map(DriverObject::token)
              .toList());
    }
    if (version.atLeast(1, 27)) {
      spec.setSeLinuxMount(options.seLinuxMount());
    }
    if (version.atLeast(1, 34)) {
      spec.setNodeAllocatableUpdatePeriodSeconds(options.nodeAllocatableUpdatePeriodSeconds());
    }
  }

  private static TokenRequest token(io.pmemcsi.api.template.TokenRequest written) {
    return new TokenRequestBuilder()
        .withAudience(Optional.ofNullable(written.audience()).orElse(""))
        .withExpirationSeconds(written.expirationSeconds())
        .build();
  }

  private boolean attaches() {
    return driver.settings().controllerTemplate().isPresent() && driver.settings().hasAttacher();
  }
}
