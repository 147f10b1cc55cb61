package io.pmemcsi.controller.https;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** Calls the server of this process, with TLS where it has it. */
final class WarmUp {

  private static final int TIMEOUT_MILLIS = 20_000;

  private WarmUp() {}

  static void run(
      InetSocketAddress server,
      Optional<ReloadingKeyManager> keys,
      String path,
      String header,
      byte[] body,
      int calls)
      throws IOException {
    byte[] head =
        "POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length: %d\r\n\r\n"
            .formatted(path, header, body.length)
            .getBytes(StandardCharsets.US_ASCII);
    try (Socket socket = connect(server, keys)) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      OutputStream out = socket.getOutputStream();
      InputStream in = new BufferedInputStream(socket.getInputStream());
      for (int i = 0; i < calls; i++) {
        out.write(head);
        out.write(body);
        out.flush();
        skipResponse(in);
      }
    }
  }

  private static Socket connect(InetSocketAddress server, Optional<ReloadingKeyManager> keys)
      throws IOException {
    InetAddress host =
        server.getAddress().isAnyLocalAddress()
            ? InetAddress.getLoopbackAddress()
            : server.getAddress();
    if (keys.isEmpty()) {
      return new Socket(host, server.getPort());
    }
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {new OnlyOwn(keys.get())}, null);
      return context.getSocketFactory().createSocket(host, server.getPort());
    } catch (GeneralSecurityException e) {
      throw new IOException("cannot call the own server: " + e.getMessage(), e);
    }
  }

  private static void skipResponse(InputStream in) throws IOException {
    long length = 0;
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
        length = Long.parseLong(line.substring(15).strip());
      }
    }
    in.skipNBytes(length);
  }

  private static String line(InputStream in) throws IOException {
    var line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("the server closed the connection");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  /** Trusts the certificate that this process serves and no other one. */
  private record OnlyOwn(ReloadingKeyManager keys) implements X509TrustManager {

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType)
        throws CertificateException {
      if (!chain[0].equals(keys.certificate())) {
        throw new CertificateException("another server listens on this port");
      }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType)
        throws CertificateException {
      throw new CertificateException("there are no clients");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
