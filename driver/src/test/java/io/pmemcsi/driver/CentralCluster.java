package io.pmemcsi.driver;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import csi.v1.ControllerGrpc;
import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import io.grpc.ManagedChannel;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.registry.CentralController;
import io.pmemcsi.driver.registry.CentralSettings;
import io.pmemcsi.driver.registry.ControllerUnderTest;
import io.pmemcsi.driver.registry.ControllerUnderTest.Route;
import io.pmemcsi.driver.registry.ControllerUnderTest.Steps;
import io.pmemcsi.driver.registry.NodeProvisioning;
import io.pmemcsi.driver.registry.NodeRegistrySettings;
import io.pmemcsi.driver.registry.TcpEndpoint;
import io.pmemcsi.driver.registry.TestPki;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * A central controller and nodes in device mode file: servers in this process that use mutual TLS
 * on the loopback interface.
 */
final class CentralCluster implements AutoCloseable {

  static final String CONTROLLER = "controller";

  private final Path directory;
  private final TestPki pki;
  private final TcpEndpoint registry = new TcpEndpoint("127.0.0.1", freePort());
  private final Map<String, FileModeDriver> nodes = new TreeMap<>();
  private Route route = (_, endpoint) -> endpoint;
  private Set<String> inventory = Set.of();
  private Duration settling = Duration.ZERO;
  private Optional<CentralController> controller = Optional.empty();
  private Optional<ManagedChannel> channel = Optional.empty();

  CentralCluster(Path directory) {
    this.directory = directory;
    this.pki = new TestPki(directory.resolve("tls"));
    createDirectory(CONTROLLER);
  }

  TestPki pki() {
    return pki;
  }

  TcpEndpoint registry() {
    return registry;
  }

  /** For how long a controller without records waits for nodes. */
  void settling(Duration duration) {
    settling = duration;
  }

  /** Routes calls of the controller to another address. */
  void route(Route other) {
    route = other;
  }

  /** Names the nodes that have the driver, registered or not. */
  void inventory(Set<String> nodes) {
    inventory = nodes;
  }

  Path controllerSocket() {
    return directory.resolve(CONTROLLER).resolve("csi.sock");
  }

  CentralSettings controllerSettings() {
    return controllerSettings(CONTROLLER);
  }

  CentralSettings controllerSettings(String name) {
    TlsFiles files = pki.files(PeerRole.REGISTRY);
    return new CentralSettings(
        new DriverName(FileModeDriver.NAME),
        name,
        new Endpoint(controllerSocket()),
        registry,
        files,
        files,
        directory.resolve(CONTROLLER).resolve("state"),
        true,
        () -> inventory);
  }

  CentralController startController() {
    return startController(new DurableFiles(), Steps.undisturbed());
  }

  CentralController startController(StateFiles files, Steps steps) {
    return startController(controllerSettings(), files, steps);
  }

  CentralController startController(CentralSettings settings, StateFiles files, Steps steps) {
    CentralController started =
        ControllerUnderTest.start(
            settings, files, steps, (node, to) -> route.to(node, to), settling);
    controller = Optional.of(started);
    channel = Optional.of(FileModeDriver.connect(controllerSocket()));
    return started;
  }

  void stopController() {
    channel.ifPresent(ManagedChannel::shutdownNow);
    controller.ifPresent(CentralController::close);
    controller = Optional.empty();
  }

  ManagedChannel channel() {
    return channel.orElseThrow();
  }

  CentralController controller() {
    return controller.orElseThrow();
  }

  ControllerGrpc.ControllerBlockingStub csi() {
    return ControllerGrpc.newBlockingStub(channel()).withDeadlineAfter(120, SECONDS);
  }

  NodeRegistrySettings membership() {
    return membership(registry);
  }

  /** Membership of a node that reaches the registry at another address. */
  NodeRegistrySettings membership(TcpEndpoint wayToRegistry) {
    TlsFiles files = pki.files(PeerRole.NODE_CONTROLLER);
    return new NodeRegistrySettings(wayToRegistry, new TcpEndpoint("127.0.0.1", 0), files, files);
  }

  DriverSettings nodeSettings(String name) {
    return nodeSettings(name, membership());
  }

  DriverSettings nodeSettings(String name, NodeRegistrySettings central) {
    Path own = createDirectory(name);
    return new DriverSettings(
        new DriverName(FileModeDriver.NAME),
        name,
        new Endpoint(own.resolve("csi.sock")),
        own.resolve("state"),
        DeviceMode.FILE,
        100,
        Optional.empty(),
        "/metrics",
        Optional.of(central));
  }

  FileModeDriver startNode(String name) {
    return startNode(nodeSettings(name), FileModeDriver.POOL);
  }

  FileModeDriver startNode(DriverSettings settings, long pool) {
    return startNode(
        settings,
        new HostAccess(
            new ProcessRunner(), new DurableFiles(), new KernelMounts(), new KernelLoops()),
        pool);
  }

  FileModeDriver startNode(DriverSettings settings, HostAccess host, long pool) {
    FileModeDriver node = FileModeDriver.start(settings, host, pool, UnaryOperator.identity());
    nodes.put(settings.nodeId(), node);
    return node;
  }

  /**
   * A controller and one node for a test that expects a single driver; its Controller calls go to
   * the controller. Both have the node's name in their messages.
   */
  static FileModeDriver singleNode(Path directory) {
    CentralCluster cluster = new CentralCluster(directory.resolve("central"));
    cluster.startController(
        cluster.controllerSettings(FileModeDriver.NODE), new DurableFiles(), Steps.undisturbed());
    FileModeDriver node =
        cluster.startNode(
            FileModeDriver.settings(directory).withRegistry(Optional.of(cluster.membership())),
            FileModeDriver.POOL);
    cluster.awaitRegistered();
    return node.through(cluster);
  }

  FileModeDriver node(String name) {
    return requireNonNull(nodes.get(name));
  }

  void stopNode(String name) {
    requireNonNull(nodes.remove(name)).close();
  }

  NodeProvisioning provisioning(String name) {
    return node(name).driver().central().orElseThrow();
  }

  /** Waits until the running nodes, and no others, are registered. */
  void awaitRegistered() {
    await()
        .untilAsserted(
            () -> {
              assertThat(nodes.keySet()).allMatch(name -> provisioning(name).isRegistered());
              assertThat(controller().nodes()).hasSameSizeAs(nodes.keySet());
            });
  }

  /** The IDs of the volumes that a node has, as reported by the node. */
  List<String> volumesOn(String name) {
    return ids(node(name).controller().listVolumes(ListVolumesRequest.getDefaultInstance()));
  }

  /** The IDs of all volumes, as reported by the controller. */
  List<String> volumes() {
    return ids(csi().listVolumes(ListVolumesRequest.getDefaultInstance()));
  }

  private static List<String> ids(ListVolumesResponse list) {
    return list.getEntriesList().stream().map(entry -> entry.getVolume().getVolumeId()).toList();
  }

  /** The volume files on disk of all nodes. */
  List<Path> devices() throws IOException {
    try (var all = Files.walk(directory)) {
      return all.filter(path -> path.toString().endsWith(".img")).toList();
    }
  }

  private Path createDirectory(String name) {
    try {
      return Files.createDirectories(directory.resolve(name));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    List.copyOf(nodes.keySet()).forEach(this::stopNode);
    stopController();
  }
}
