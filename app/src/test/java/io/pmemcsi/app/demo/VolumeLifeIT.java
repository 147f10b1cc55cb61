package io.pmemcsi.app.demo;

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

/** What the demo says where the driver works and the machine does not. */
class VolumeLifeIT {

  @Test
  void diskThatDoesNotPlayAlongIsNamedInWords(@TempDir Path folder) throws Exception {
    Path noFolder = Files.writeString(folder.resolve("file"), "");
    DriverSettings settings = DriverDemo.settings(folder);
    Narrator silent =
        new Narrator(
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));

    try (NodeDriver _ = NodeDriver.start(settings);
        CsiClient client = new CsiClient(settings.endpoint().socket());
        Interruption interruption = Interruption.watch();
        VolumeLife life = new VolumeLife(client, noFolder, silent, interruption)) {
      assertThatThrownBy(life::live)
          .isInstanceOf(FatalException.class)
          .hasMessageStartingWith("the demo cannot go on at NodeStageVolume: " + noFolder)
          .hasMessageEndingWith(DemoDirectory.WAY_OUT)
          .hasMessageNotContaining("Exception");
    }
  }
}
