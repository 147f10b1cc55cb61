package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.pmemcsi.api.PodOptions;
import io.pmemcsi.api.PullSecret;
import io.pmemcsi.api.Sidecar;
import io.pmemcsi.api.Written;
import io.pmemcsi.operator.objects.Pods;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Applies what the user may change in the pods of a driver. */
final class PodCustomizer {

  private PodCustomizer() {}

  /** The pods on the nodes also come to those that wait for the driver with the startup taint. */
  static PodTemplateSpec onNodes(PmemModel driver, PodTemplateSpec template) {
    PodOptions options = driver.settings().nodePods();
    PodTemplateSpec custom = customize(template, options, driver.settings().imagePullSecrets());
    if (driver.removesStartupTaint() && options.tolerations() != null) {
      custom
          .getSpec()
          .setTolerations(
              Stream.concat(
                      custom.getSpec().getTolerations().stream(),
                      Stream.of(Pods.tolerateKey(driver.names().startupTaint())))
                  .toList());
    }
    return custom;
  }

  static PodTemplateSpec customize(
      PodTemplateSpec template, PodOptions options, List<PullSecret> pullSecrets) {
    PodTemplateSpec custom =
        new PodTemplateSpecBuilder(template)
            .editMetadata()
            .addToAnnotations(options.annotations())
            .endMetadata()
            .build();
    PodSpec pod = custom.getSpec();
    options.podTolerations().ifPresent(pod::setTolerations);
    options.podAffinity().ifPresent(pod::setAffinity);
    Written.text(options.priorityClassName()).ifPresent(pod::setPriorityClassName);
    pod.setImagePullSecrets(
        pullSecrets.stream().map(secret -> new LocalObjectReference(secret.name())).toList());
    return custom;
  }

  /** The container with the user's arguments after its own, and with the user's resources. */
  static Container customize(Container container, @Nullable Sidecar options) {
    if (options == null) {
      return container;
    }
    var custom =
        new ContainerBuilder(container)
            .addAllToArgs(Optional.ofNullable(options.extraArgs()).orElse(List.of()));
    Optional.ofNullable(options.resources()).ifPresent(custom::withResources);
    return custom.build();
  }
}
