package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import csi.v1.ControllerGrpc;
import csi.v1.GetPluginInfoRequest;
import csi.v1.IdentityGrpc;
import csi.v1.NodeGrpc;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.pmemcsi.base.error.FatalException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
  void aRequestThatIsNoProtobufMessageIsInvalid() {
    try (FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
      for (MethodDescriptor<?, ?> method :
          List.of(
              IdentityGrpc.getProbeMethod(),
              ControllerGrpc.getCreateVolumeMethod(),
              ControllerGrpc.getListVolumesMethod(),
              NodeGrpc.getNodeStageVolumeMethod())) {
        assertThatCall(() -> callWithBytes(driver, method, new byte[] {(byte) 0xff, 1, 2}))
            .fails(Status.Code.INVALID_ARGUMENT, "not a protobuf message");
      }
      assertThat(info(driver)).isEqualTo(FileModeDriver.NAME);
    }
  }

  private static void callWithBytes(
      FileModeDriver driver, MethodDescriptor<?, ?> method, byte[] request) {
    MethodDescriptor<byte[], byte[]> raw = method.toBuilder(new Bytes(), new Bytes()).build();
    ClientCalls.blockingUnaryCall(driver.channel(), raw, CallOptions.DEFAULT, request);
  }

  /** Sends and receives bytes as they are. */
  private record Bytes() implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] bytes) {
      return new ByteArrayInputStream(bytes);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Test
  void aLongVolumeIdIsNotEchoed() {
    try (FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
      Calls csi = new Calls(driver);

      assertThatExceptionOfType(StatusRuntimeException.class)
          .isThrownBy(() -> csi.unstage("x".repeat(3 << 20), scratch.pod("staging")))
          .satisfies(
              e -> {
                assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND);
                assertThat(e.getMessage()).hasSizeLessThan(3000).contains("characters)");
              });
    }
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
