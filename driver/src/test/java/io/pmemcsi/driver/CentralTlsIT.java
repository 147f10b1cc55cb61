package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import csi.v1.ControllerGrpc;
import csi.v1.DeleteVolumeRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.Volume;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.pmemcsi.base.log.LogFormat;
import io.pmemcsi.base.log.Logging;
import io.pmemcsi.base.log.Verbosity;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.driver.registry.CentralSettings;
import io.pmemcsi.driver.registry.ControllerUnderTest.Steps;
import io.pmemcsi.driver.registry.NodeRegistrySettings;
import io.pmemcsi.driver.registry.TcpEndpoint;
import io.pmemcsi.driver.registry.TestPki;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.testbed.kubernetes.FreePorts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import registry.v0.RegisterControllerRequest;
import registry.v0.RegistryGrpc;
import registry.v0.UnregisterControllerRequest;

/** Which clients the two TLS ports accept; refusals are logged and lose nothing. */
@Isolated("reads the log")
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CentralTlsIT {

  private final Instant now = Instant.now();

  private final Scratch scratch = new Scratch();
  private final CentralCluster cluster = new CentralCluster(scratch.directory());
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();

  /** The two TLS ports. */
  enum Port {
    REGISTRY,
    NODE
  }

  @BeforeAll
  void start() {
    cluster.startController();
    cluster.startNode("node-1");
    cluster.awaitRegistered();
  }

  @BeforeEach
  void log() {
    log.reset();
    Logging.configure(LogFormat.TEXT, new Verbosity(3), log);
  }

  @AfterAll
  void stop() throws IOException {
    Logging.configure(LogFormat.TEXT, new Verbosity(0), OutputStream.nullOutputStream());
    try (scratch;
        cluster) {
      assertThat(cluster.devices()).isEmpty();
    }
  }

  private TcpEndpoint endpoint(Port port) {
    return switch (port) {
      case REGISTRY -> cluster.registry();
      case NODE -> cluster.provisioning("node-1").endpoint();
    };
  }

  /** The role of the clients of a port. */
  private static PeerRole clients(Port port) {
    return port == Port.REGISTRY ? PeerRole.NODE_CONTROLLER : PeerRole.REGISTRY;
  }

  private static PeerRole server(Port port) {
    return port == Port.REGISTRY ? PeerRole.REGISTRY : PeerRole.NODE_CONTROLLER;
  }

  private void assertRefused(Port port, TlsFiles files, String reason) throws Exception {
    call(
        port,
        files,
        channel ->
            assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> callAnything(port, channel))
                .satisfies(e -> assertThat(e.getStatus().getCode()).isEqualTo(Code.UNAVAILABLE)));
    assertLogged(reason);
    assertEverythingWorks();
  }

  private void assertLogged(String reason) {
    await()
        .untilAsserted(
            () ->
                assertThat(log.toString(StandardCharsets.UTF_8))
                    .contains("Connection refused: TLS handshake failed.")
                    .contains(reason));
  }

  private void assertEverythingWorks() {
    Volume volume = cluster.csi().createVolume(request("pvc", 8 * MIB).build()).getVolume();
    assertThat(cluster.volumesOn("node-1")).containsExactly(volume.getVolumeId());
    cluster
        .csi()
        .deleteVolume(DeleteVolumeRequest.newBuilder().setVolumeId(volume.getVolumeId()).build());
    assertThat(cluster.controller().nodes()).hasSize(1);
  }

  /** A client that trusts every server, so that only the server can refuse. */
  private void call(Port port, TlsFiles files, Consumer<Channel> calls) throws Exception {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress(endpoint(port).host(), endpoint(port).port())
            .overrideAuthority(server(port).certificateName())
            .sslContext(
                GrpcSslContexts.forClient()
                    .keyManager(files.certificate().toFile(), files.key().toFile())
                    .trustManager(InsecureTrustManagerFactory.INSTANCE)
                    .build())
            .build();
    try {
      calls.accept(channel);
    } finally {
      channel.shutdownNow();
    }
  }

  private static void callAnything(Port port, Channel channel) {
    if (port == Port.REGISTRY) {
      RegistryGrpc.newBlockingStub(channel)
          .registerController(
              RegisterControllerRequest.newBuilder()
                  .setNodeId("node-1")
                  .setEndpoint("tcp://127.0.0.1:1")
                  .build());
    } else {
      ControllerGrpc.newBlockingStub(channel).listVolumes(ListVolumesRequest.getDefaultInstance());
    }
  }

  @Test
  void aValidCertificateIsAccepted() throws Exception {
    call(
        Port.NODE,
        cluster.pki().files("right", cluster.pki().issue(clients(Port.NODE).certificateName())),
        channel -> callAnything(Port.NODE, channel));
  }

  @ParameterizedTest
  @EnumSource(Port.class)
  void aCertificateOfAnotherAuthorityIsRefused(Port port) throws Exception {
    TestPki other = cluster.pki().other("other-" + port);

    assertRefused(port, other.files(clients(port)), "unable to find valid certification path");
  }

  @ParameterizedTest
  @EnumSource(Port.class)
  void anExpiredCertificateIsRefused(Port port) throws Exception {
    String name = clients(port).certificateName();

    assertRefused(
        port,
        cluster
            .pki()
            .files(
                "expired-" + port,
                cluster
                    .pki()
                    .authority()
                    .issue(
                        "CN=" + name,
                        now.minus(Duration.ofDays(2)),
                        now.minus(Duration.ofDays(1)),
                        name)),
        "NotAfter");
  }

  @ParameterizedTest
  @EnumSource(Port.class)
  void aCertificateForTheOtherRoleIsRefused(Port port) throws Exception {
    assertRefused(
        port,
        cluster.pki().files("swapped-" + port, cluster.pki().issue(server(port).certificateName())),
        "instead of " + clients(port).certificateName());
  }

  @ParameterizedTest
  @EnumSource(Port.class)
  void aClientWithoutCertificateIsRefused(Port port) throws Exception {
    try (SSLSocket socket = socket(endpoint(port), new X509Certificate[1])) {
      socket.setEnabledProtocols(new String[] {"TLSv1.2"});
      socket.setEnabledCipherSuites(all().toArray(String[]::new));
      assertThatExceptionOfType(IOException.class).isThrownBy(socket::startHandshake);
    }

    assertLogged("Empty client certificate chain");
    assertEverythingWorks();
  }

  @ParameterizedTest
  @EnumSource(Port.class)
  void plainTcpIsRefused(Port port) throws IOException {
    try (Socket socket = new Socket(endpoint(port).host(), endpoint(port).port())) {
      socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1))
          .doesNotContain("HTTP");
    }
    assertLogged("the peer does not use TLS");
    assertEverythingWorks();
  }

  /** A process that hung while it stopped unregisters when its successor has registered. */
  @Test
  void anEarlierProcessDoesNotEndTheRegistrationOfItsSuccessor() throws Exception {
    call(
        Port.REGISTRY,
        cluster.pki().files("earlier", cluster.pki().issue("pmem-node-controller")),
        channel -> {
          var _ =
              RegistryGrpc.newBlockingStub(channel)
                  .unregisterController(
                      UnregisterControllerRequest.newBuilder()
                          .setNodeId("node-1")
                          .setInstance("earlier process")
                          .build());
        });

    assertThat(log.toString(StandardCharsets.UTF_8)).contains("Earlier process of a node");
    assertEverythingWorks();
  }

  @Test
  void aNodeDoesNotRegisterWithAServerThatIsNotTheRegistry() {
    TlsFiles own = cluster.pki().files(PeerRole.NODE_CONTROLLER);
    try (CentralCluster impostors = new CentralCluster(scratch.directory().resolve("impostor"))) {
      // a node's certificate at the registry's port
      impostors.startController(
          withServer(
              impostors,
              cluster.pki().files("impostor", cluster.pki().issue("pmem-node-controller"))),
          new DurableFiles(),
          Steps.undisturbed());
      cluster.startNode(
          cluster.nodeSettings(
              "node-2",
              new NodeRegistrySettings(
                  impostors.registry(), new TcpEndpoint("127.0.0.1", 0), own, own)),
          FileModeDriver.POOL);

      await()
          .untilAsserted(
              () ->
                  assertThat(log.toString(StandardCharsets.UTF_8))
                      .contains("Registration failed.")
                      .contains("DNS name matching pmem-registry"));
      assertThat(cluster.provisioning("node-2").isRegistered()).isFalse();
      assertThat(impostors.controller().nodes()).isEmpty();
    } finally {
      cluster.stopNode("node-2");
    }
  }

  private CentralSettings withServer(CentralCluster other, TlsFiles server) {
    CentralSettings settings = other.controllerSettings();
    return new CentralSettings(
        settings.driver(),
        settings.name(),
        settings.endpoint(),
        settings.registry(),
        server,
        settings.client(),
        settings.statePath(),
        settings.expandable(),
        settings.inventory());
  }

  @Test
  void theControllerDoesNotCallAServerThatIsNotANode() {
    TlsFiles client = cluster.pki().files("a-node", cluster.pki().issue("pmem-node-controller"));
    TlsFiles server = cluster.pki().files("no-node", cluster.pki().issue("pmem-registry"));
    try {
      cluster.startNode(
          cluster.nodeSettings(
              "node-2",
              new NodeRegistrySettings(
                  cluster.registry(), new TcpEndpoint("127.0.0.1", 0), server, client)),
          FileModeDriver.POOL);

      await()
          .untilAsserted(
              () ->
                  assertThat(log.toString(StandardCharsets.UTF_8))
                      .contains("the controller cannot list the volumes of node node-2")
                      .contains("DNS name matching pmem-node-controller"));
      assertThat(cluster.controller().nodes()).hasSize(1);
    } finally {
      cluster.stopNode("node-2");
    }
  }

  @Test
  void newConnectionsUseRenewedCertificatesAndOpenConnectionsStay() throws Exception {
    try (CentralCluster other = new CentralCluster(scratch.directory().resolve("renewal"))) {
      TlsFiles registry = other.controllerSettings().server();
      other.startController();
      other.startNode("node-1");
      other.awaitRegistered();
      X509Certificate before = certificate(other.registry());

      TestPki.write(registry, other.pki().issue("pmem-registry"));

      assertThat(certificate(other.registry())).isNotEqualTo(before);
      assertThat(other.provisioning("node-1").isRegistered()).isTrue();
      assertThat(log.toString(StandardCharsets.UTF_8)).contains("TLS certificate reloaded.");
      other.stopController();
      other.startController();
      other.awaitRegistered();
    }
  }

  /** No version below 1.2, and no suite without forward secrecy and authenticated encryption. */
  @ParameterizedTest
  @EnumSource(Port.class)
  void noWeakProtocolOrCipherSuiteIsAccepted(Port port) throws Exception {
    assertThat(TlsScan.acceptedVersions(endpoint(port))).containsExactly("-tls1_2", "-tls1_3");
    assertThat(TlsScan.acceptedSuites(endpoint(port)))
        .containsExactlyInAnyOrder(
            "ECDHE-ECDSA-AES128-GCM-SHA256",
            "ECDHE-ECDSA-AES256-GCM-SHA384",
            "ECDHE-ECDSA-CHACHA20-POLY1305");
  }

  /** Without this, an OpenSSL that lacks what is weak would find nothing anywhere. */
  @Test
  void theScanFindsWhatIsWeak() throws Exception {
    TcpEndpoint endpoint = new TcpEndpoint("127.0.0.1", FreePorts.next());
    Process server = TlsScan.startPermissive(endpoint, cluster.pki().files(PeerRole.REGISTRY));
    try {
      await()
          .untilAsserted(
              () ->
                  assertThat(TlsScan.acceptedVersions(endpoint))
                      .containsExactly("-tls1", "-tls1_1", "-tls1_2", "-tls1_3"));
      assertThat(TlsScan.acceptedSuites(endpoint))
          .contains("ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES128-GCM-SHA256");
    } finally {
      server.destroyForcibly().waitFor();
    }
  }

  private static List<String> all() throws GeneralSecurityException {
    return Stream.of(SSLContext.getDefault().getSupportedSSLParameters().getCipherSuites())
        .toList();
  }

  private static X509Certificate certificate(TcpEndpoint endpoint) throws Exception {
    X509Certificate[] seen = new X509Certificate[1];
    try (SSLSocket socket = socket(endpoint, seen)) {
      socket.startHandshake();
    } catch (IOException e) {
      // the client has no certificate; the server's was recorded
    }
    return seen[0];
  }

  private static SSLSocket socket(TcpEndpoint endpoint, X509Certificate[] seen) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(
        null,
        new TrustManager[] {
          new CertificateRecorder(seen),
        },
        new SecureRandom());
    return (SSLSocket) context.getSocketFactory().createSocket(endpoint.host(), endpoint.port());
  }

  /** Trusts every server and records its certificate. */
  private static final class CertificateRecorder extends X509ExtendedTrustManager {
    private final X509Certificate[] seen;

    CertificateRecorder(X509Certificate[] seen) {
      this.seen = seen;
    }

    private void see(X509Certificate[] chain) {
      seen[0] = chain[0];
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {
      see(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
      see(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {
      see(chain);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
