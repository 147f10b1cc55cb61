package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.fabric8.kubernetes.api.model.storage.CSIDriverSpec;
import io.fabric8.kubernetes.api.model.storage.TokenRequest;
import io.fabric8.kubernetes.api.model.storage.TokenRequestBuilder;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.template.CSIDriverOptions;
import io.pmemcsi.operator.objects.CsiDriverFields;
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
    addOptional(object.getSpec(), options);
    return CsiDriverFields.knownTo(driver.facts(), object);
  }

  private static void addOptional(CSIDriverSpec spec, CSIDriverOptions options) {
    List<TokenRequest> tokens =
        Optional.ofNullable(options.tokenRequests()).orElse(List.of()).stream()
            .map(DriverObject::token)
            .toList();
    spec.setStorageCapacity(options.storageCapacity());
    spec.setRequiresRepublish(options.requiresRepublish());
    spec.setTokenRequests(tokens);
    spec.setSeLinuxMount(options.seLinuxMount());
    spec.setNodeAllocatableUpdatePeriodSeconds(options.nodeAllocatableUpdatePeriodSeconds());
    // servers refuse the field without tokens, even if it is false
    spec.setServiceAccountTokenInSecrets(
        tokens.isEmpty() ? null : options.serviceAccountTokenInSecrets());
    spec.setPreventPodSchedulingIfMissing(options.preventPodSchedulingIfMissing());
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
