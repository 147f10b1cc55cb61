package io.pmemcsi.driver;

import java.nio.file.Path;

/** The same requirements for CreateVolume of the central controller. */
class CentralCreateVolumeConformanceIT extends CreateVolumeConformanceIT {

  @Override
  FileModeDriver start(Path directory) {
    return CentralCluster.singleNode(directory);
  }
}
