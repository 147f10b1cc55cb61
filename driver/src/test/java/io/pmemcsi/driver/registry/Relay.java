package io.pmemcsi.driver.registry;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A network between two sides that can lose what one side sends. */
public final class Relay implements AutoCloseable {

  private final ServerSocket server;
  private final TcpEndpoint target;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile boolean requestsLost;
  private volatile boolean responsesLost;

  public Relay(TcpEndpoint target) {
    this.target = target;
    try {
      server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().start(this::accept);
  }

  public TcpEndpoint endpoint() {
    return new TcpEndpoint("127.0.0.1", server.getLocalPort());
  }

  /** From now on what clients send does not arrive, and the connections stay. */
  public void loseRequests() {
    requestsLost = true;
  }

  /** From now on what the server sends does not arrive, and the connections stay. */
  public void loseResponses() {
    responsesLost = true;
  }

  /** New connections work; those that exist are ended. */
  public void heal() {
    requestsLost = false;
    responsesLost = false;
    cut();
  }

  /** Ends all connections. */
  public void cut() {
    for (Socket socket : sockets) {
      close(socket);
    }
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        sockets.add(client);
        Socket behind = new Socket(target.host(), target.port());
        sockets.add(behind);
        Thread.ofVirtual().start(() -> copy(client, behind, true));
        Thread.ofVirtual().start(() -> copy(behind, client, false));
      } catch (IOException e) {
        cut();
      }
    }
  }

  private void copy(Socket from, Socket to, boolean requests) {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[16 << 10];
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        if (!(requests ? requestsLost : responsesLost)) {
          out.write(buffer, 0, count);
        }
      }
    } catch (IOException e) {
      // ended by either side
    } finally {
      close(from);
      close(to);
    }
  }

  private void close(Socket socket) {
    sockets.remove(socket);
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cut();
  }
}
