package io.pmemcsi.demo;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.DriverSettings;
import io.pmemcsi.driver.NodeDriver;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the demo reports when the machine, not the driver, fails. */
class VolumeLifeIT {

  @Test
  void unusableDirectoryIsReported(@TempDir Path directory) throws Exception {
    Path noDirectory = Files.writeString(directory.resolve("file"), "");
    DriverSettings settings = DriverDemo.settings(directory);
    Narrator silent =
        new Narrator(
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));

    try (NodeDriver _ = NodeDriver.start(settings);
        CsiClient client = new CsiClient(settings.endpoint().socket());
        Interruption interruption = Interruption.watch();
        VolumeLife life = new VolumeLife(client, noDirectory, silent, interruption)) {
      assertThatThrownBy(life::live)
          .isInstanceOf(FatalException.class)
          .hasMessageStartingWith("the demo cannot continue at NodeStageVolume: " + noDirectory)
          .hasMessageEndingWith(DemoDirectory.REMEDY)
          .hasMessageNotContaining("Exception");
    }
  }
}
