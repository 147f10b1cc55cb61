package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;

/** What can be copied, and how large a copy has to be. */
final class CopyRules {

  private CopyRules() {}

  static void requireCopyable(VolumeRecord source) {
    if (source.parameters().kataContainers()) {
      throw new VolumeException.PreconditionFailed(
          "volume %s holds an image file for Kata Containers, which cannot be copied: the filesystem inside would keep its UUID"
              .formatted(source.id()));
    }
    if (source.isEphemeral()) {
      throw new VolumeException.PreconditionFailed(
          "volume %s is an ephemeral inline volume, which cannot be copied".formatted(source.id()));
    }
  }

  /** The parameters of a copy. */
  static VolumeParameters parameters(VolumeParameters requested) {
    if (requested.kataContainers()) {
      throw new VolumeException.InvalidRequest(
          "parameter kataContainers=true excludes volume_content_source: create the volume blank and copy the files");
    }
    return requested;
  }

  /** The size of a copy, which may be larger than its source, but not smaller. */
  static SizeRange size(VolumeRecord source, SizeRange requested) {
    if (requested.requiredBytes() > 0 && requested.requiredBytes() < source.sizeBytes()) {
      throw tooSmall("required_bytes", requested.requiredBytes(), source);
    }
    if (requested.isExceededBy(source.sizeBytes())) {
      throw tooSmall("limit_bytes", requested.limitBytes(), source);
    }
    return requested.atLeast(source.sizeBytes());
  }

  private static VolumeException tooSmall(String field, long bytes, VolumeRecord source) {
    return new VolumeException.SizeOutOfRange(
        "capacity_range.%s %d is less than the %d bytes of the source %s: a copy is at least as large"
            .formatted(field, bytes, source.sizeBytes(), source.id()));
  }
}
