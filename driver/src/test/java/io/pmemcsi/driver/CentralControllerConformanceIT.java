package io.pmemcsi.driver;

import java.nio.file.Path;

/** The same demands on the Controller service, made of the central controller. */
class CentralControllerConformanceIT extends ControllerConformanceIT {

  @Override
  FileModeDriver start(Path folder) {
    return CentralCluster.singleNode(folder);
  }
}
