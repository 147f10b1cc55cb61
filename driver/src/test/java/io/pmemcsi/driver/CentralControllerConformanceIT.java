package io.pmemcsi.driver;

import java.nio.file.Path;

/** The same requirements for the Controller service of the central controller. */
class CentralControllerConformanceIT extends ControllerConformanceIT {

  @Override
  FileModeDriver start(Path directory) {
    return CentralCluster.singleNode(directory);
  }
}
