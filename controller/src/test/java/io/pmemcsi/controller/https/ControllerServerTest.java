package io.pmemcsi.controller.https;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.http.ListenAddress;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControllerServerTest {

  @TempDir Path directory;

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final AtomicInteger echoes = new AtomicInteger();
  private TestCertificate certificate;
  private ControllerServer server;
  private HttpClient client;

  @BeforeEach
  void start() {
    certificate = new TestCertificate(directory);
    server =
        ControllerServer.start(
            new ListenAddress("127.0.0.1", 0),
            Optional.of(certificate.files()),
            Map.of(
                "/echo",
                    new ControllerServer.Route(
                        "echo",
                        Duration.ofSeconds(3),
                        body -> {
                          echoes.incrementAndGet();
                          return Response.json(body);
                        }),
                "/fail",
                    new ControllerServer.Route(
                        "fail",
                        Duration.ofSeconds(3),
                        _ -> {
                          throw new IllegalStateException("broken");
                        })),
            new RequestMetrics(registry));
    client = HttpClient.newBuilder().sslContext(certificate.client()).build();
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  @Test
  void getAndPostAreServedAndOthersAreNot() throws Exception {
    assertThat(post("/echo", "{}").body()).isEqualTo("{}");
    assertThat(send(request("/echo").GET()).statusCode()).isEqualTo(200);
    assertThat(send(request("/echo").DELETE()).statusCode()).isEqualTo(405);
    assertThat(post("/nothing", "").statusCode()).isEqualTo(404);
    assertThat(post("/fail", "").statusCode()).isEqualTo(500);
    assertThat(post("/echo", "still here").body()).isEqualTo("still here");
  }

  @Test
  void aLargeBodyIsRefusedAndOthersAreServed() throws Exception {
    HttpResponse<String> response = post("/echo", "x".repeat(10 << 20));

    assertThat(response.statusCode()).isEqualTo(413);
    assertThat(response.body()).contains("nodeCacheCapable");
    assertThat(post("/echo", "x".repeat(3 << 20)).statusCode()).isEqualTo(200);
  }

  @Test
  void aBodyOfUnknownLengthIsReadUpToALimit() throws Exception {
    assertThat(
            send(request("/echo")
                    .POST(BodyPublishers.fromPublisher(BodyPublishers.ofString("small"))))
                .body())
        .isEqualTo("small");
    assertThat(
            send(request("/echo")
                    .POST(
                        BodyPublishers.fromPublisher(BodyPublishers.ofString("x".repeat(100_000)))))
                .statusCode())
        .isEqualTo(411);
  }

  @Test
  void slowAndSilentClientsDoNotKeepOthersWaiting() throws Exception {
    List<Socket> idle = new ArrayList<>();
    try {
      for (int i = 0; i < 2000; i++) {
        idle.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
      }
      // half of a handshake, and half of a request
      idle.get(0).getOutputStream().write(new byte[] {0x16, 0x03, 0x01});
      SSLSocket slow = tls("TLSv1.3");
      idle.add(slow);
      OutputStream out = slow.getOutputStream();
      out.write(
          "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf"
              .getBytes(StandardCharsets.US_ASCII));
      out.flush();

      for (int i = 0; i < 20; i++) {
        assertThat(post("/echo", "quick").body()).isEqualTo("quick");
      }
    } finally {
      for (Socket socket : idle) {
        socket.close();
      }
    }
  }

  /** A connection that is closed without notice could lose the request which is on its way. */
  @Test
  void clientsOfAServerThatDrainsAreAnsweredAndAskedToConnectAgain() throws Exception {
    try (SSLSocket kept = tls("TLSv1.3")) {
      ask(kept, "first");
      assertThat(readUntil(kept.getInputStream(), "first")).doesNotContain("Connection: close");

      server.drain();

      ask(kept, "second");
      assertThat(readUntil(kept.getInputStream(), "second"))
          .contains("200 OK")
          .contains("Connection: close");
      assertThat(kept.getInputStream().read()).as("the end of the connection").isNegative();
    }
    assertThat(post("/echo", "new connection").body()).isEqualTo("new connection");
  }

  private static void ask(SSLSocket socket, String body) throws IOException {
    socket
        .getOutputStream()
        .write(
            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(body.length(), body)
                .getBytes(StandardCharsets.US_ASCII));
  }

  /** By another implementation of TLS, with a key of RSA. */
  @Test
  void onlyModernTlsIsSpoken() throws Exception {
    openssl(
        "req -new -x509 -newkey rsa:2048 -nodes -subj /CN=x -days 1 -keyout tls.key -out tls.crt");
    await()
        .untilAsserted(
            () -> assertThat(connect("-tls1_3")).contains("TLSv1.3").contains("TLS_AES_"));

    assertThat(connect("-tls1_2")).contains("TLSv1.2").contains("ECDHE-RSA-AES128-GCM-SHA256");
    assertThat(connect("-tls1_2 -cipher ECDHE-RSA-CHACHA20-POLY1305")).contains("CHACHA20");
    for (String old :
        List.of(
            "-tls1_2 -cipher ECDHE-RSA-AES128-SHA256",
            "-tls1_2 -cipher AES128-GCM-SHA256",
            "-tls1_2 -cipher ECDHE-RSA-AES128-SHA",
            "-tls1_1 -cipher ALL:@SECLEVEL=0",
            "-tls1 -cipher ALL:@SECLEVEL=0")) {
      assertThat(connect(old)).as(old).contains("alert");
    }
  }

  @Test
  void aNewCertificateIsServedWithoutDroppingConnections() throws Exception {
    try (SSLSocket old = tls("TLSv1.3")) {
      old.startHandshake();
      X509Certificate before = served(old);
      certificate.replace();

      await()
          .untilAsserted(
              () -> {
                try (SSLSocket fresh = tls("TLSv1.3")) {
                  fresh.startHandshake();
                  assertThat(served(fresh)).isNotEqualTo(before);
                }
              });
      ask(old, "hello");
      assertThat(readUntil(old.getInputStream(), "hello")).contains("200 OK");
    }
  }

  @Test
  void brokenFilesLeaveThePreviousCertificateInUse() throws Exception {
    var keys =
        ReloadingKeyManager.start(
            certificate.files().certificate(),
            certificate.files().key(),
            certificate.files().reloadPeriod());
    X509Certificate before = keys.certificate();

    certificate.write("tls.key", "garbage");
    keys.reload();
    assertThat(keys.certificate()).isEqualTo(before);
    certificate.replace();
    keys.reload();

    assertThat(keys.certificate()).isNotEqualTo(before);
    keys.close();
  }

  /** A handshake asks for the alias, the key and the certificate one after the other. */
  @Test
  void aHandshakeThatHasBegunGetsTheKeyOfItsCertificate() throws Exception {
    try (var keys =
        ReloadingKeyManager.start(
            certificate.files().certificate(), certificate.files().key(), Duration.ofDays(1))) {
      X509Certificate before = keys.certificate();
      String type = before.getPublicKey().getAlgorithm();
      String alias = requireNonNull(keys.chooseServerAlias(type, null, null));
      PrivateKey key = keys.getPrivateKey(alias);
      certificate.replace();
      keys.reload();

      assertThat(keys.getCertificateChain(alias)).startsWith(before);
      assertThat(keys.getPrivateKey(alias)).isEqualTo(key);
      String next = requireNonNull(keys.chooseServerAlias(type, null, null));
      assertThat(keys.getCertificateChain(next)).startsWith(keys.certificate());
      assertThat(keys.getPrivateKey(next)).isNotEqualTo(key);
    }
  }

  @Test
  void missingOrWrongFilesAreNamedAtTheStart() {
    certificate.write("tls.key", "garbage");

    assertThatThrownBy(
            () ->
                ReloadingKeyManager.start(
                    certificate.files().certificate(),
                    certificate.files().key(),
                    certificate.files().reloadPeriod()))
        .isInstanceOf(FatalException.class)
        .hasMessageContaining("tls.key has no private key in PEM format")
        .hasMessageContaining("-keyFile");
  }

  @Test
  void warmUpCallsTheServerItselfAndIsNotCounted() throws Exception {
    server.warmUp("/echo", "{}".getBytes(StandardCharsets.US_ASCII), 3);
    post("/echo", "{}");

    await()
        .untilAsserted(
            () ->
                assertThat(metrics())
                    .contains("scheduler_requests_total{code=\"200\",method=\"post\"} 1.0"));
    assertThat(echoes).hasValue(4);
  }

  /** Each value of a label takes memory for ever, and clients choose the method. */
  @Test
  void methodsThatAreNotServedAreCountedTogether() throws Exception {
    for (String method : List.of("DELETE", "PUT", "ANYTHING", "get")) {
      assertThat(send(request("/echo").method(method, BodyPublishers.noBody())).statusCode())
          .isEqualTo(405);
    }

    await()
        .untilAsserted(
            () ->
                assertThat(metrics())
                    .contains("scheduler_requests_total{code=\"405\",method=\"other\"} 4.0"));
    assertThat(metrics()).doesNotContain("delete", "put", "anything", "method=\"get\"");
  }

  @Test
  void requestsAreCounted() throws Exception {
    post("/echo", "12345");
    post("/nothing", "");

    await()
        .untilAsserted(
            () ->
                assertThat(metrics())
                    .contains("scheduler_in_flight_requests 0.0")
                    .contains("scheduler_requests_total{code=\"200\",method=\"post\"} 1.0")
                    .contains("scheduler_requests_total{code=\"404\",method=\"post\"} 1.0")
                    .contains(
                        "scheduler_request_duration_seconds_count{handler=\"echo\",method=\"post\"}"
                            + " 1")
                    .contains("scheduler_response_size_bytes_bucket{le=\"200.0\"} 2"));
  }

  private String connect(String options) throws Exception {
    return openssl("s_client -connect 127.0.0.1:" + server.port() + " " + options);
  }

  private String openssl(String arguments) throws Exception {
    Process process =
        new ProcessBuilder(("openssl " + arguments).split(" "))
            .directory(directory.toFile())
            .redirectInput(new File("/dev/null"))
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output;
  }

  private String metrics() throws IOException {
    var out = new ByteArrayOutputStream();
    PrometheusTextFormatWriter.create().write(out, registry.scrape());
    return out.toString(StandardCharsets.UTF_8);
  }

  private SSLSocket tls(String protocol) throws IOException {
    SSLSocket socket =
        (SSLSocket)
            certificate.client().getSocketFactory().createSocket("127.0.0.1", server.port());
    socket.setEnabledProtocols(new String[] {protocol});
    return socket;
  }

  private static X509Certificate served(SSLSocket socket) throws IOException {
    return (X509Certificate) socket.getSession().getPeerCertificates()[0];
  }

  private static String readUntil(InputStream in, String end) throws IOException {
    var text = new StringBuilder();
    while (!text.toString().endsWith(end)) {
      int c = in.read();
      assertThat(c).as("read so far: %s", text).isNotNegative();
      text.append((char) c);
    }
    return text.toString();
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return send(request(path).POST(BodyPublishers.ofString(body)));
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + server.port() + path));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofString());
  }
}
