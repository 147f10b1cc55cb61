package io.pmemcsi.driver.registry;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A network connection that can drop the data of either side. */
public final class Relay implements AutoCloseable {

  private static final int QUEUE_FULL_MILLIS = 500;

  private final ServerSocket server;
  private final TcpEndpoint target;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final Set<Socket> frozen = ConcurrentHashMap.newKeySet();
  private volatile boolean requestsLost;
  private volatile boolean responsesLost;
  private volatile boolean vanished;

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

  /** Drops the data of clients and keeps the connections open. */
  public void loseRequests() {
    requestsLost = true;
  }

  /** Drops the data of the server and keeps the connections open. */
  public void loseResponses() {
    responsesLost = true;
  }

  /** Neither data nor the end of the existing connections gets through; new ones work. */
  public void freeze() {
    frozen.addAll(sockets);
  }

  /** Behaves like a host without power: no packet is answered, not even that of a new client. */
  public void vanish() {
    vanished = true;
    freeze();
    // the kernel drops packets of new clients when the queue of the port is full
    boolean full = false;
    while (!full) {
      Socket waiting = new Socket();
      sockets.add(waiting);
      try {
        waiting.connect(server.getLocalSocketAddress(), QUEUE_FULL_MILLIS);
      } catch (SocketTimeoutException e) {
        full = true;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Closes the existing connections; new ones work. */
  public void heal() {
    requestsLost = false;
    responsesLost = false;
    cut();
  }

  /** Closes all connections. */
  public void cut() {
    for (Socket socket : sockets) {
      close(socket);
    }
  }

  private void accept() {
    while (!server.isClosed() && !vanished) {
      try {
        Socket client = server.accept();
        sockets.add(client);
        if (vanished) {
          return;
        }
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
        if (!(requests ? requestsLost : responsesLost) && !frozen.contains(from)) {
          out.write(buffer, 0, count);
        }
      }
    } catch (IOException e) {
      // closed by either side
    } finally {
      if (!frozen.contains(from)) {
        close(from);
        close(to);
      }
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
    sever();
  }

  /** Closes all connections, and accepts no new ones. */
  public void sever() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cut();
  }
}
