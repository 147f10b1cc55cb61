package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import csi.v1.DeleteVolumeRequest;
import io.grpc.Status;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.driver.registry.CentralSettings;
import io.pmemcsi.driver.registry.ControllerUnderTest.Steps;
import io.pmemcsi.driver.registry.NodeRegistrySettings;
import io.pmemcsi.driver.registry.Relay;
import io.pmemcsi.driver.registry.TcpEndpoint;
import io.pmemcsi.driver.registry.TestPki;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import io.pmemcsi.driver.state.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Certificates as users have them, and another CA for drivers that run. */
@Timeout(300)
class CentralCertificatesIT {

  private static final String NODE = "node-1";

  private final Scratch scratch = new Scratch();
  private final CentralCluster cluster = new CentralCluster(scratch.directory());

  @AfterEach
  void stop() throws IOException {
    try (scratch;
        cluster) {
      assertThat(cluster.devices()).isEmpty();
    }
  }

  /** PMEM-CSI 0.7 issued such certificates: RSA keys, and no name but the common one. */
  @Test
  void rsaKeysAndCertificatesWithoutDnsNamesAreAccepted() throws Exception {
    Path directory = Files.createDirectory(scratch.directory().resolve("rsa"));
    openssl(
        directory,
        "req -x509 -newkey rsa:2048 -nodes -sha256 -days 7 -subj /CN=pmem-ca"
            + " -keyout ca.key -out ca.crt");
    start(rsaFiles(directory, PeerRole.REGISTRY), rsaFiles(directory, PeerRole.NODE_CONTROLLER));

    assertProvisions();
    for (TcpEndpoint port : List.of(cluster.registry(), cluster.provisioning(NODE).endpoint())) {
      assertThat(TlsScan.acceptedVersions(port)).containsExactly("-tls1_2", "-tls1_3");
      assertThat(TlsScan.acceptedSuites(port))
          .containsExactlyInAnyOrder(
              "ECDHE-RSA-AES128-GCM-SHA256",
              "ECDHE-RSA-AES256-GCM-SHA384",
              "ECDHE-RSA-CHACHA20-POLY1305");
    }
  }

  @Test
  void ed25519KeysAreAccepted() throws Exception {
    Path directory = Files.createDirectory(scratch.directory().resolve("ed25519"));
    openssl(
        directory,
        "req -x509 -newkey ed25519 -nodes -days 7 -subj /CN=pmem-ca -keyout ca.key -out ca.crt");
    start(
        ed25519Files(directory, PeerRole.REGISTRY),
        ed25519Files(directory, PeerRole.NODE_CONTROLLER));

    assertProvisions();
  }

  private void start(TlsFiles registry, TlsFiles node) {
    cluster.startController(withFiles(registry), new DurableFiles(), Steps.undisturbed());
    cluster.startNode(
        cluster.nodeSettings(
            NODE,
            new NodeRegistrySettings(
                cluster.registry(), new TcpEndpoint("127.0.0.1", 0), node, node)),
        FileModeDriver.POOL);
    cluster.awaitRegistered();
  }

  private static TlsFiles ed25519Files(Path directory, PeerRole role) throws Exception {
    String name = role.certificateName();
    openssl(
        directory,
        "req -new -newkey ed25519 -nodes -subj /CN=%1$s -keyout %1$s.key -out %1$s.csr"
            .formatted(name));
    return signed(directory, name);
  }

  /** A key in the format PKCS#1. */
  private static TlsFiles rsaFiles(Path directory, PeerRole role) throws Exception {
    String name = role.certificateName();
    openssl(
        directory,
        "req -new -newkey rsa:2048 -nodes -subj /CN=%1$s -keyout %1$s.pkcs8 -out %1$s.csr"
            .formatted(name));
    openssl(directory, "rsa -traditional -in %1$s.pkcs8 -out %1$s.key".formatted(name));
    assertThat(directory.resolve(name + ".key")).content().contains("BEGIN RSA PRIVATE KEY");
    return signed(directory, name);
  }

  /** A certificate that has nothing but a subject. */
  private static TlsFiles signed(Path directory, String name) throws Exception {
    openssl(
        directory,
        "x509 -req -days 7 -in %1$s.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out %1$s.crt"
            .formatted(name));
    assertThat(openssl(directory, "x509 -noout -text -in %s.crt".formatted(name)))
        .containsPattern("CN ?= ?" + name)
        .doesNotContain("DNS:");
    return new TlsFiles(
        directory.resolve("ca.crt"),
        directory.resolve(name + ".crt"),
        directory.resolve(name + ".key"));
  }

  private static String openssl(Path directory, String arguments) throws Exception {
    return TlsScan.openssl(directory, arguments.split(" ", -1));
  }

  private CentralSettings withFiles(TlsFiles files) {
    CentralSettings settings = cluster.controllerSettings();
    return new CentralSettings(
        settings.driver(),
        settings.name(),
        settings.endpoint(),
        settings.registry(),
        files,
        files,
        settings.statePath(),
        settings.expandable(),
        settings.inventory());
  }

  /**
   * In the order in which the operator changes the secrets; pods get them at different times. A
   * node that joins shows that new connections work, which resume no earlier session.
   */
  @Test
  void runningDriversChangeToAnotherCa() throws IOException {
    ConcurrentMap<TcpEndpoint, Relay> toNodes = new ConcurrentHashMap<>();
    cluster.route((_, to) -> toNodes.computeIfAbsent(to, Relay::new).endpoint());
    try (Relay toRegistry = new Relay(cluster.registry())) {
      NodeRegistrySettings member = cluster.membership(toRegistry.endpoint());
      cluster.startController();
      cluster.startNode(cluster.nodeSettings(NODE, member), FileModeDriver.POOL);
      cluster.awaitRegistered();
      Runnable check =
          () -> {
            assertProvisions();
            toNodes.values().forEach(Relay::cut);
            toRegistry.cut();
            cluster.startNode(cluster.nodeSettings("node-2", member), FileModeDriver.POOL);
            cluster.awaitRegistered();
            assertProvisions();
            cluster.stopNode("node-2");
          };
      TestPki pki = cluster.pki();
      TestPki next = pki.other("next");
      String oldAuthority = pki.authority().authorityPem();
      String newAuthority = next.authority().authorityPem();

      Files.writeString(pki.ca(), oldAuthority + newAuthority);
      check.run();
      var _ = pki.files("pmem-registry", next.issue("pmem-registry"));
      check.run();
      var _ = pki.files("pmem-node-controller", next.issue("pmem-node-controller"));
      check.run();
      Files.writeString(pki.ca(), newAuthority);
      check.run();
    } finally {
      toNodes.values().forEach(Relay::close);
    }
  }

  /** The provisioner repeats a call that meets a lost connection. */
  private void assertProvisions() {
    await()
        .ignoreExceptionsMatching(e -> Status.fromThrowable(e).getCode() == Status.Code.UNAVAILABLE)
        .untilAsserted(
            () -> {
              // without a topology every node is asked for its capacity
              String id =
                  cluster
                      .csi()
                      .createVolume(request("pvc", 8 * MIB).build())
                      .getVolume()
                      .getVolumeId();
              var _ =
                  cluster
                      .csi()
                      .deleteVolume(DeleteVolumeRequest.newBuilder().setVolumeId(id).build());
            });
    assertThat(cluster.volumes()).isEmpty();
  }
}
