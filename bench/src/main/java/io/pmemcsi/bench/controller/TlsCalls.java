package io.pmemcsi.bench.controller;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** One connection with TLS, as kube-scheduler and the API server keep it. */
final class TlsCalls implements AutoCloseable {

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;

  TlsCalls(int port, X509Certificate authority) throws IOException, GeneralSecurityException {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("ca", authority);
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    socket = context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    out = socket.getOutputStream();
  }

  static byte[] request(String path, String body) {
    byte[] content = body.getBytes(StandardCharsets.UTF_8);
    byte[] head =
        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
            .formatted(path, content.length)
            .getBytes(StandardCharsets.US_ASCII);
    byte[] all = Arrays.copyOf(head, head.length + content.length);
    System.arraycopy(content, 0, all, head.length, content.length);
    return all;
  }

  /** Sends a request and reads the whole answer; fails unless it is good. */
  void call(byte[] request) throws IOException {
    out.write(request);
    out.flush();
    String status = line();
    if (!status.contains(" 200 ")) {
      throw new IOException("the controller answers " + status);
    }
    long length = 0;
    for (String line = line(); !line.isEmpty(); line = line()) {
      if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
        length = Long.parseLong(line.substring(15).strip());
      }
    }
    in.skipNBytes(length);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  private String line() throws IOException {
    var line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("the controller closed the connection");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }
}
