package io.pmemcsi.testbed.guest;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The host's side of testbed/guest/guest-agent: one connection runs one script. */
record GuestAgent(int port) {
  /** How much longer than the script the agent may take before the connection is given up. */
  private static final Duration GRACE = Duration.ofMinutes(1);

  ExecResult run(String script, Duration timeout) throws IOException {
    byte[] body = script.getBytes(StandardCharsets.UTF_8);
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 60_000);
      socket.setSoTimeout(Math.toIntExact(timeout.plus(GRACE).toMillis()));
      OutputStream out = socket.getOutputStream();
      String header = "%s %d\n".formatted(timeout.toMillis() / 1000.0, body.length);
      out.write(header.getBytes(StandardCharsets.US_ASCII));
      out.write(body);
      out.flush();
      return answer(new DataInputStream(socket.getInputStream()));
    }
  }

  private static ExecResult answer(DataInputStream in) throws IOException {
    String[] head = line(in).split(" ", -1);
    if (head.length != 3) {
      throw new IOException("the agent's answer makes no sense: " + String.join(" ", head));
    }
    String stdout = text(in, Integer.parseInt(head[1]));
    String stderr = text(in, Integer.parseInt(head[2]));
    return new ExecResult(Integer.parseInt(head[0]), stdout, stderr);
  }

  private static String line(DataInputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("the agent hung up");
      }
      line.append((char) c);
    }
    return line.toString();
  }

  private static String text(DataInputStream in, int length) throws IOException {
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
