package io.pmemcsi.controller.volume;

import java.util.Optional;
import java.util.function.Consumer;

/** The storage classes of the cluster, in memory and up to date. */
public interface VolumeClasses {

  Optional<VolumeClass> volumeClass(String name);

  /** Reports the name of each class that is created, changed or deleted from now on. */
  void onClassChange(Consumer<String> listener);
}
