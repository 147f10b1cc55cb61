package io.pmemcsi.testbed.guest;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * A program that runs in the guest: answers each connection on a Unix socket with what it got, in
 * capitals.
 */
final class EchoServer {
  private EchoServer() {}

  public static void main(String[] args) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(args[0]));
      System.out.println("listening on " + args[0]);
      while (true) {
        try (SocketChannel client = server.accept()) {
          ByteBuffer buffer = ByteBuffer.allocate(1024);
          client.read(buffer);
          String text = StandardCharsets.US_ASCII.decode(buffer.flip()).toString();
          client.write(StandardCharsets.US_ASCII.encode(text.toUpperCase(java.util.Locale.ROOT)));
        }
      }
    }
  }
}
