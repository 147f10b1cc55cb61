package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import csi.v1.GetPluginInfoRequest;
import io.grpc.Status;
import io.pmemcsi.base.error.FatalException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The socket of the driver: whose it is, and what fits through it. */
class SocketIT extends OwnScratch {

  private static String info(FileModeDriver driver) {
    return driver.identity().getPluginInfo(GetPluginInfoRequest.getDefaultInstance()).getName();
  }

  @Test
  void theSocketOfACrashedDriverIsReplaced() throws IOException {
    Path socket = scratch.folder().resolve("csi.sock");
    try (ServerSocketChannel stale = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      stale.bind(UnixDomainSocketAddress.of(socket));
    }
    assertThat(socket).exists();

    try (FileModeDriver driver = FileModeDriver.start(scratch.folder())) {
      assertThat(info(driver)).isEqualTo(FileModeDriver.NAME);
    }
    assertThat(socket).doesNotExist();
  }

  @Test
  void theSocketOfALivingDriverIsLeftAlone() {
    try (FileModeDriver driver = FileModeDriver.start(scratch.folder())) {
      assertThatExceptionOfType(FatalException.class)
          .isThrownBy(
              () ->
                  NodeDriver.start(
                      FileModeDriver.settings(scratch.folder())
                          .withStatePath(scratch.folder().resolve("other"))))
          .withMessageContaining("another process listens");
      assertThat(info(driver)).isEqualTo(FileModeDriver.NAME);
    }
  }

  @Test
  void aFileInPlaceOfTheSocketIsLeftAlone() throws IOException {
    Files.writeString(scratch.folder().resolve("csi.sock"), "data");

    assertThatExceptionOfType(FatalException.class)
        .isThrownBy(() -> FileModeDriver.start(scratch.folder()))
        .withMessageContaining("is not a socket");
    assertThat(scratch.folder().resolve("csi.sock")).hasContent("data");
  }

  @Test
  void aSocketThatCannotBeMadeIsFatal() throws IOException {
    Path folder = scratch.folder().resolve("x".repeat(120));
    Files.createDirectory(folder);

    assertThatExceptionOfType(FatalException.class)
        .isThrownBy(() -> FileModeDriver.start(folder))
        .withMessageContaining("cannot listen on unix:///")
        .withMessageEndingWith("; correct -endpoint, or create the directory of the socket");
    Files.deleteIfExists(folder.resolve("state/contents"));
  }

  @Test
  void aMessageThatIsTooLargeIsRefusedWithTheUsualWords() {
    try (FileModeDriver driver = FileModeDriver.start(scratch.folder())) {
      Calls csi = new Calls(driver);

      assertThatCall(
              () -> csi.create(Calls.request("pvc", MIB).putParameters("x", "y".repeat(5 << 20))))
          .fails(Status.Code.RESOURCE_EXHAUSTED, "received message larger than max");
      assertThat(info(driver)).isEqualTo(FileModeDriver.NAME);
    }
  }
}
