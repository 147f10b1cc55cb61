package io.pmemcsi.controller.volume;

import java.util.Optional;

/** Claims and storage classes of the cluster, answered from memory. */
public interface VolumeLookup {

  Optional<Claim> claim(String namespace, String name);

  Optional<VolumeClass> volumeClass(String name);

  /** The name of the class for claims that name none. */
  Optional<String> defaultClass();
}
