package io.pmemcsi.driver;

import java.nio.file.Path;

/** The same requirements for the Identity service of the central controller. */
class CentralIdentityConformanceIT extends IdentityConformanceIT {

  @Override
  FileModeDriver start(Path directory) {
    return CentralCluster.singleNode(directory);
  }
}
