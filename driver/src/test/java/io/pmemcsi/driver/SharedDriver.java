package io.pmemcsi.driver;

import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestInstance;

/** One driver for all tests of a class, and a check for leaks after each test. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SharedDriver {

  static final String UNKNOWN = "does-not-exist";

  final Scratch scratch = new Scratch();
  final FileModeDriver driver = start(scratch.directory());
  final Calls csi = new Calls(driver);

  /** A node that provisions its own volumes; subclasses may override this. */
  FileModeDriver start(Path directory) {
    return FileModeDriver.start(directory);
  }

  @AfterEach
  void removeVolumesAndAssertNoLeaks() throws IOException {
    for (ListVolumesResponse.Entry entry : list(0, "").getEntriesList()) {
      csi.delete(entry.getVolume().getVolumeId());
    }
    Files.deleteIfExists(staging());
    scratch.assertNothingLeft();
  }

  @AfterAll
  void stop() {
    driver.close();
    scratch.close();
  }

  final Path staging() {
    return scratch.pod("staging");
  }

  final Path target() {
    return scratch.pod("target");
  }

  final ListVolumesResponse list(int max, String token) {
    return driver
        .controller()
        .listVolumes(
            ListVolumesRequest.newBuilder().setMaxEntries(max).setStartingToken(token).build());
  }
}
