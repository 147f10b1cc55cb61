package io.pmemcsi.testbed.kubernetes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds ports on loopback that no process listens on. Each belongs to this JVM until it ends: tests
 * of several modules run at a time, and one that asks whether its server is healthy must not get
 * the answer of another one's.
 */
public final class FreePorts {

  /** Below the range from which the kernel takes the ports of outgoing connections. */
  private static final int FIRST = 20_000;

  private static final int LAST = 32_000;

  private static final Queue<Socket> RESERVED = new ConcurrentLinkedQueue<>();

  private FreePorts() {}

  public static int next() {
    for (int attempt = 0; attempt < 100; attempt++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      if (reserve(port)) {
        return port;
      }
    }
    throw new IllegalStateException(
        "no free port between %d and %d on loopback".formatted(FIRST, LAST));
  }

  /**
   * Binds a socket that never listens. Linux lets it share the port only with sockets that are
   * willing to share, as those of servers are and those of this method are not until they have it.
   */
  static boolean reserve(int port) {
    Socket socket = new Socket();
    // also one that did not get it: there are few, and the end of the JVM closes them
    RESERVED.add(socket);
    try {
      socket.setReuseAddress(false);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      socket.setReuseAddress(true);
      return true;
    } catch (BindException _) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot reserve the port " + port, e);
    }
  }
}
