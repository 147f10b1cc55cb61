package io.pmemcsi.testbed.kubernetes;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds ports on loopback that nobody listens on. */
final class FreePorts {

  /** Below the range from which the kernel takes the ports of outgoing connections. */
  private static final int FIRST = 20_000;

  private static final int LAST = 32_000;

  private FreePorts() {}

  static int next() {
    for (int attempt = 0; attempt < 100; attempt++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return probe.getLocalPort();
      } catch (IOException _) {
        // taken: try another
      }
    }
    throw new IllegalStateException(
        "no free port between %d and %d on loopback".formatted(FIRST, LAST));
  }
}
