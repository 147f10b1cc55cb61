package io.pmemcsi.driver;

import java.nio.file.Path;

/** The same demands on making volumes, made of the central controller. */
class CentralCreateVolumeConformanceIT extends CreateVolumeConformanceIT {

  @Override
  FileModeDriver start(Path folder) {
    return CentralCluster.singleNode(folder);
  }
}
