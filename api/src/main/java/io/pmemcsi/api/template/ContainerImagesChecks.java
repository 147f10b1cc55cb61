package io.pmemcsi.api.template;

import io.pmemcsi.api.Violation;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The rules for the images of sidecars. */
final class ContainerImagesChecks {

  static final String NOT_EMPTY_CEL =
      "(!has(self.attacherImage) || self.attacherImage != '')"
          + " && (!has(self.provisionerImage) || self.provisionerImage != '')"
          + " && (!has(self.driverRegistrarImage) || self.driverRegistrarImage != '')"
          + " && (!has(self.livenessProbeImage) || self.livenessProbeImage != '')"
          + " && (!has(self.resizerImage) || self.resizerImage != '')"
          + " && (!has(self.snapshotterImage) || self.snapshotterImage != '')";
  static final String NOT_EMPTY =
      "an image override is empty: name an image, or leave the field out for the default";

  private ContainerImagesChecks() {}

  static List<Violation> check(CSIDriverDeploymentSpec spec) {
    ContainerImages images =
        Optional.ofNullable(spec.containerImages()).orElse(ContainerImages.NONE);
    return Stream.of(
            empty("attacherImage", images.attacherImage()),
            empty("provisionerImage", images.provisionerImage()),
            empty("driverRegistrarImage", images.driverRegistrarImage()),
            empty("livenessProbeImage", images.livenessProbeImage()),
            empty("resizerImage", images.resizerImage()),
            empty("snapshotterImage", images.snapshotterImage()))
        .flatMap(Optional::stream)
        .toList();
  }

  private static Optional<Violation> empty(String field, @Nullable String image) {
    return image != null && image.isEmpty()
        ? Optional.of(new Violation("spec.containerImages." + field, "", NOT_EMPTY))
        : Optional.empty();
  }
}
