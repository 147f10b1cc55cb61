package io.pmemcsi.controller;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Forwards each new connection to the next endpoint, as kube-proxy does it for a service. */
final class ServiceProxy implements AutoCloseable {

  private final ServerSocket server;
  private final List<Integer> endpoints = new CopyOnWriteArrayList<>();
  private final List<Socket> connections = new CopyOnWriteArrayList<>();
  private final AtomicInteger next = new AtomicInteger();

  ServiceProxy() throws IOException {
    server = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  void add(int endpoint) {
    endpoints.add(endpoint);
  }

  /** Connections that exist stay. */
  void remove(int endpoint) {
    endpoints.remove(Integer.valueOf(endpoint));
  }

  /** Ends all connections that exist. */
  void cut() {
    connections.forEach(ServiceProxy::close);
    connections.clear();
  }

  @Override
  public void close() {
    close(server);
    cut();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = server.accept();
        connections.add(client);
        Thread.ofVirtual().start(() -> forward(client));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private void forward(Socket client) {
    try {
      List<Integer> now = List.copyOf(endpoints);
      int endpoint = now.get(Math.floorMod(next.getAndIncrement(), now.size()));
      Socket replica = new Socket(InetAddress.getLoopbackAddress(), endpoint);
      connections.add(replica);
      Thread.ofVirtual().start(() -> copy(replica, client));
      copy(client, replica);
    } catch (IOException e) {
      close(client);
    }
  }

  private static void copy(Socket from, Socket to) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      in.transferTo(out);
    } catch (IOException e) {
      // one of them has closed the connection
    }
  }

  private static void close(AutoCloseable socket) {
    try {
      socket.close();
    } catch (Exception e) {
      // closed already
    }
  }
}
