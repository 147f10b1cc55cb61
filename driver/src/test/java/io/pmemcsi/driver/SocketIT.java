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

/** Ownership of the socket of the driver, and its message size limit. */
class SocketIT extends ScratchPerTest {

  private static String info(FileModeDriver driver) {
    return driver.identity().getPluginInfo(GetPluginInfoRequest.getDefaultInstance()).getName();
  }

  @Test
  void theSocketOfACrashedDriverIsReplaced() throws IOException {
    Path socket = scratch.directory().resolve("csi.sock");
    try (ServerSocketChannel stale = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      stale.bind(UnixDomainSocketAddress.of(socket));
    }
    assertThat(socket).exists();

    try (FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
      assertThat(info(driver)).isEqualTo(FileModeDriver.NAME);
    }
    assertThat(socket).doesNotExist();
  }

  @Test
  void theSocketOfARunningDriverIsKept() {
    try (FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
      assertThatExceptionOfType(FatalException.class)
          .isThrownBy(
              () ->
                  NodeDriver.start(
                      FileModeDriver.settings(scratch.directory())
                          .withStatePath(scratch.directory().resolve("other"))))
          .withMessageContaining("another process listens");
      assertThat(info(driver)).isEqualTo(FileModeDriver.NAME);
    }
  }

  @Test
  void aFileAtTheSocketPathIsKept() throws IOException {
    Files.writeString(scratch.directory().resolve("csi.sock"), "data");

    assertThatExceptionOfType(FatalException.class)
        .isThrownBy(() -> FileModeDriver.start(scratch.directory()))
        .withMessageContaining("is not a socket");
    assertThat(scratch.directory().resolve("csi.sock")).hasContent("data");
  }

  @Test
  void aSocketThatCannotBeCreatedIsFatal() throws IOException {
    Path directory = scratch.directory().resolve("x".repeat(120));
    Files.createDirectory(directory);

    assertThatExceptionOfType(FatalException.class)
        .isThrownBy(() -> FileModeDriver.start(directory))
        .withMessageContaining("cannot listen on unix:///")
        .withMessageEndingWith("; correct -endpoint, or create the directory of the socket");
    Files.deleteIfExists(directory.resolve("state/contents"));
  }

  @Test
  void aTooLargeMessageIsRefusedAsResourceExhausted() {
    try (FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
      Calls csi = new Calls(driver);

      assertThatCall(
              () -> csi.create(Calls.request("pvc", MIB).putParameters("x", "y".repeat(5 << 20))))
          .fails(Status.Code.RESOURCE_EXHAUSTED, "received message larger than max");
      assertThat(info(driver)).isEqualTo(FileModeDriver.NAME);
    }
  }
}
