package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class FreePortsTest {

  @Test
  void portIsReservedForOneJvm() throws IOException {
    int port = FreePorts.next();

    assertThat(FreePorts.reserve(port)).as("as another JVM would try it").isFalse();
    try (var server = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      assertThat(server.getLocalPort()).isEqualTo(port);
    }
    assertThat(FreePorts.reserve(port)).as("after the server").isFalse();
  }

  @Test
  void portInUseIsNotFree() throws IOException {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(FreePorts.reserve(server.getLocalPort())).isFalse();
    }
  }
}
