package io.pmemcsi.central;

import static io.pmemcsi.central.CentralProcesses.CONTROLLER;
import static io.pmemcsi.central.CentralProcesses.CONTROLLER_ROLE;
import static io.pmemcsi.central.CentralProcesses.NODE_ROLE;
import static io.pmemcsi.central.CentralProcesses.START;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import csi.v1.GetPluginInfoRequest;
import csi.v1.IdentityGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.pmemcsi.testbed.kubernetes.Certificates;
import io.pmemcsi.testbed.kubernetes.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Processes that do not belong to a cluster: refused, logged, and nothing is lost. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CentralAccessIT {

  private static final Pattern REFUSED =
      Pattern.compile("Connection refused: TLS handshake failed");

  private final CentralProcesses cluster;

  CentralAccessIT(@TempDir Path directory) {
    cluster = new CentralProcesses(directory);
  }

  /** What is wrong with a certificate. */
  enum Wrong {
    AUTHORITY,
    DATE,
    ROLE
  }

  /** The process that is called, which has the other role than its clients. */
  enum Server {
    CONTROLLER,
    NODE;

    String process() {
      return this == CONTROLLER ? CentralProcesses.CONTROLLER : "node-1";
    }

    String clients() {
      return this == CONTROLLER ? NODE_ROLE : CONTROLLER_ROLE;
    }

    String role() {
      return this == CONTROLLER ? CONTROLLER_ROLE : NODE_ROLE;
    }
  }

  @BeforeAll
  void start() throws IOException {
    cluster.startController();
    cluster.startNode("node-1");
  }

  @AfterAll
  void end() throws IOException {
    try (cluster) {
      assertThat(cluster.images()).isEmpty();
      cluster.assertNoKeyInLogs();
    }
  }

  private Certificates.Issued certificate(Wrong wrong, Server server) {
    Instant now = Instant.now();
    String role = server.clients();
    return switch (wrong) {
      case AUTHORITY -> new Certificates("another").issue("CN=" + role, role);
      case DATE ->
          cluster
              .authority()
              .issue("CN=" + role, now.minus(Duration.ofHours(1)), now.minusSeconds(60), role);
      case ROLE -> cluster.issue(server.role());
    };
  }

  @ParameterizedTest
  @EnumSource(Wrong.class)
  void theControllerRefusesAClient(Wrong wrong) throws Exception {
    assertRefused(Server.CONTROLLER, certificate(wrong, Server.CONTROLLER));
  }

  @ParameterizedTest
  @EnumSource(Wrong.class)
  void aNodeRefusesAClient(Wrong wrong) throws Exception {
    assertRefused(Server.NODE, certificate(wrong, Server.NODE));
  }

  /** The client trusts every server, so that only the server can refuse. */
  private void assertRefused(Server server, Certificates.Issued certificate) throws Exception {
    long before = refusals(server.process());
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", cluster.port(server.process()))
            .overrideAuthority(server.role())
            .sslContext(
                GrpcSslContexts.forClient()
                    .trustManager(InsecureTrustManagerFactory.INSTANCE)
                    .keyManager(certificate.key().getPrivate(), certificate.certificate())
                    .build())
            .build();
    try {
      assertThatExceptionOfType(StatusRuntimeException.class)
          .isThrownBy(
              () ->
                  IdentityGrpc.newBlockingStub(channel)
                      .withDeadlineAfter(START.toSeconds(), TimeUnit.SECONDS)
                      .getPluginInfo(GetPluginInfoRequest.getDefaultInstance()))
          .satisfies(e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE));
    } finally {
      channel.shutdownNow();
    }
    await().untilAsserted(() -> assertThat(refusals(server.process())).isGreaterThan(before));
    assertEverythingWorks();
  }

  @ParameterizedTest
  @EnumSource(Server.class)
  void plainTcpIsRefused(Server server) throws IOException {
    long before = refusals(server.process());
    try (Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), cluster.port(server.process()))) {
      socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1))
          .doesNotContain("HTTP");
    }
    await().untilAsserted(() -> assertThat(refusals(server.process())).isGreaterThan(before));
    assertThat(cluster.log(server.process())).contains("the peer does not use TLS");
    assertEverythingWorks();
  }

  @ParameterizedTest
  @EnumSource(Wrong.class)
  void aNodeWithAWrongCertificateStaysOut(Wrong wrong) throws IOException {
    String node = "wrong-" + wrong.name().toLowerCase(Locale.ROOT).replace('_', '-');
    long before = refusals(CONTROLLER);
    cluster.startNode(node, certificate(wrong, Server.CONTROLLER));

    await()
        .atMost(START)
        .untilAsserted(() -> assertThat(cluster.log(node)).contains("Registration failed."));
    assertThat(refusals(CONTROLLER)).isGreaterThan(before);
    assertThat(cluster.capacity(node)).isZero();
    cluster.kill(node);
    assertEverythingWorks();
  }

  @Test
  void aNodeShowsItsClientCertificateToTheController() throws IOException {
    cluster.startNode("two-certificates", cluster.issue(NODE_ROLE), cluster.issue(NODE_ROLE));
    await().atMost(START).until(() -> cluster.capacity("two-certificates") > 0);
    cluster.delete(cluster.create("two-certificates", "two-certificates"));
    cluster.kill("two-certificates");

    cluster.startNode(
        "wrong-client", cluster.issue(NODE_ROLE), certificate(Wrong.AUTHORITY, Server.CONTROLLER));
    await()
        .atMost(START)
        .untilAsserted(
            () -> assertThat(cluster.log("wrong-client")).contains("Registration failed."));
    assertThat(cluster.capacity("wrong-client")).isZero();
    cluster.kill("wrong-client");
    assertEverythingWorks();
  }

  /** The certificate of a controller is what nodes expect of their clients. */
  @ParameterizedTest
  @EnumSource(Wrong.class)
  void aNodeDoesNotRegisterWithAControllerThatShowsAWrongCertificate(Wrong wrong)
      throws IOException {
    String impostor = "impostor-" + wrong.name().toLowerCase(Locale.ROOT);
    String node = "careful-" + wrong.name().toLowerCase(Locale.ROOT);
    int port = FreePorts.next();
    cluster.startController(impostor, port, certificate(wrong, Server.NODE));
    cluster.startNode(node, port, cluster.issue(NODE_ROLE));

    await()
        .atMost(START)
        .untilAsserted(
            () ->
                assertThat(cluster.log(node))
                    .contains("Registration failed.")
                    .contains(reason(wrong)));
    assertThat(cluster.capacity(impostor, node)).isZero();
    cluster.kill(node);
    cluster.kill(impostor);
    assertEverythingWorks();
  }

  private static String reason(Wrong wrong) {
    return switch (wrong) {
      case AUTHORITY -> "unable to find valid certification path";
      case DATE -> "NotAfter";
      case ROLE -> "DNS name matching " + CONTROLLER_ROLE;
    };
  }

  private long refusals(String process) throws IOException {
    return REFUSED.matcher(cluster.log(process)).results().count();
  }

  private void assertEverythingWorks() throws IOException {
    cluster.delete(cluster.create("works", "node-1"));
    assertThat(cluster.images()).isEmpty();
  }
}
