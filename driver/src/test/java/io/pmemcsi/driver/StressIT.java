package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.Volume;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many concurrent volumes; by default a tenth of the number of a campaign. */
@Timeout(600)
class StressIT {

  private static final int WORKERS = 10;
  private static final int VOLUMES = Boolean.getBoolean("pmem-csi.campaign") ? 100 : 10;

  @Test
  void concurrentVolumeLifecyclesAreIndependent() throws Exception {
    try (Scratch scratch = new Scratch();
        FileModeDriver driver = FileModeDriver.start(scratch.directory());
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS)) {
      Calls csi = new Calls(driver);
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < VOLUMES; i++) {
        String name = "stress-" + i;
        all.add(workers.submit(() -> live(csi, scratch, name)));
      }
      for (Future<?> one : all) {
        assertThat(one.get()).isEqualTo("lived");
      }
      scratch.assertNothingLeft();
    }
  }

  private static String live(Calls csi, Scratch scratch, String name) throws Exception {
    Path staging = scratch.pod(name + "-staging");
    Path target = scratch.pod(name);
    Volume volume = csi.create(name, 15 * MIB);
    csi.stage(volume, staging, mount("ext4"));
    csi.publish(volume, staging, target, mount("ext4"));
    Files.writeString(target.resolve("name"), name);
    assertThat(staging.resolve("name")).hasContent(name);
    csi.unpublish(volume.getVolumeId(), target);
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
    Files.delete(staging);
    return "lived";
  }
}
