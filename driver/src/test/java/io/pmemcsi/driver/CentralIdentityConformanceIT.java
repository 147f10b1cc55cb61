package io.pmemcsi.driver;

import java.nio.file.Path;

/** The same demands on the Identity service, made of the central controller. */
class CentralIdentityConformanceIT extends IdentityConformanceIT {

  @Override
  FileModeDriver start(Path folder) {
    return CentralCluster.singleNode(folder);
  }
}
