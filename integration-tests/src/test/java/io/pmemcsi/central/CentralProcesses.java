package io.pmemcsi.central;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import csi.v1.CapacityRange;
import csi.v1.ControllerGrpc.ControllerBlockingStub;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.Topology;
import csi.v1.TopologyRequirement;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import io.pmemcsi.standin.DriverClient;
import io.pmemcsi.testbed.kubernetes.Certificates;
import io.pmemcsi.testbed.kubernetes.FreePorts;
import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A controller and nodes as processes, started with the flags that the operator gives them. */
final class CentralProcesses implements AutoCloseable {

  static final Duration START = Duration.ofMinutes(2);
  static final String CONTROLLER = "controller";
  static final String CONTROLLER_ROLE = "pmem-registry";
  static final String NODE_ROLE = "pmem-node-controller";

  private static final String DRIVER = "central.example.com";
  private static final Pattern ENDPOINT =
      Pattern.compile("TLS server started\\..* endpoint=\"tcp://127\\.0\\.0\\.1:(\\d+)\"");

  private final Path directory;
  private final int registry = FreePorts.next();
  private final Certificates authority = new Certificates("central");
  private final Map<String, ChildProcess> processes = new HashMap<>();
  private final Map<String, DriverClient> clients = new HashMap<>();
  private final List<Certificates.Issued> issued = new ArrayList<>();

  CentralProcesses(Path directory) {
    this.directory = directory;
  }

  Certificates authority() {
    return authority;
  }

  /** A certificate of the cluster's authority, whose key must appear nowhere. */
  Certificates.Issued issue(String role) {
    return authority.issue("CN=" + role, role);
  }

  void startController() throws IOException {
    startController(CONTROLLER, registry, issue(CONTROLLER_ROLE));
  }

  void startController(String name, int port, Certificates.Issued certificate) throws IOException {
    start(name, certificate, "-mode=controller", "-registryEndpoint=tcp://127.0.0.1:" + port);
  }

  /** Starts a node and waits until the controller can use it. */
  void startNode(String node) throws IOException {
    startNode(node, registry, issue(NODE_ROLE));
    await(node).atMost(START).until(() -> capacity(node) > 0);
  }

  /** Starts a node that shows this certificate to a registry. */
  void startNode(String node, Certificates.Issued certificate) throws IOException {
    startNode(node, registry, certificate);
  }

  void startNode(String node, int port, Certificates.Issued certificate) throws IOException {
    start(
        node,
        certificate,
        "-mode=node",
        "-registryEndpoint=tcp://127.0.0.1:" + port,
        "-controllerEndpoint=tcp://127.0.0.1:0");
  }

  /** Starts a node that shows another certificate to the registry than to its clients. */
  void startNode(String node, Certificates.Issued certificate, Certificates.Issued client)
      throws IOException {
    issued.add(client);
    Path own = Files.createDirectories(directory.resolve(node));
    start(
        node,
        certificate,
        "-mode=node",
        "-registryEndpoint=tcp://127.0.0.1:" + registry,
        "-controllerEndpoint=tcp://127.0.0.1:0",
        "-clientCertFile=" + Files.writeString(own.resolve("client.crt"), client.certificatePem()),
        "-clientKeyFile=" + Files.writeString(own.resolve("client.key"), client.keyPem()));
  }

  private void start(String name, Certificates.Issued certificate, String... flags)
      throws IOException {
    issued.add(certificate);
    Path own = Files.createDirectories(directory.resolve(name));
    var command = new ArrayList<>(List.of("../bin/pmem-csi", "driver"));
    command.addAll(List.of(flags));
    command.addAll(
        List.of(
            "-v=5",
            "-drivername=" + DRIVER,
            "-nodeid=" + name,
            "-deviceManager=file",
            "-endpoint=unix://" + socket(name),
            "-statePath=" + own.resolve("state"),
            "-caFile=" + Files.writeString(own.resolve("ca.crt"), authority.authorityPem()),
            "-certFile=" + Files.writeString(own.resolve("tls.crt"), certificate.certificatePem()),
            "-keyFile=" + Files.writeString(own.resolve("tls.key"), certificate.keyPem())));
    ChildProcess process =
        ChildProcess.start(
            name,
            directory.resolve(name + ".log"),
            List.of(),
            command,
            Map.of("JAVA_HOME", System.getProperty("java.home"), "PATH", System.getenv("PATH")));
    processes.put(name, process);
    process.awaitReady(START, () -> Files.exists(socket(name)));
  }

  void kill(String name) throws IOException {
    ChildProcess process = Objects.requireNonNull(processes.remove(name));
    ProcessHandle handle = ProcessHandle.of(process.pid()).orElseThrow();
    handle.destroyForcibly();
    handle.onExit().join();
    process.close();
    Files.deleteIfExists(socket(name));
  }

  /** The process does not answer any more, and its connections stay open, as in a partition. */
  void partition(String name) throws Exception {
    signal("STOP", name);
  }

  void endPartition(String name) throws Exception {
    signal("CONT", name);
  }

  private void signal(String signal, String name) throws Exception {
    long pid = Objects.requireNonNull(processes.get(name)).pid();
    assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start().waitFor())
        .isZero();
  }

  private Path socket(String name) {
    return directory.resolve(name).resolve("csi.sock");
  }

  String log(String name) throws IOException {
    return Files.readString(directory.resolve(name + ".log"));
  }

  /** Where a process listens for its peers. */
  int port(String name) throws IOException {
    Matcher endpoint = ENDPOINT.matcher(log(name));
    assertThat(endpoint.find()).as("endpoint in the log of " + name).isTrue();
    return Integer.parseInt(endpoint.group(1));
  }

  /** Connects again when the controller was restarted. */
  private ControllerBlockingStub csi(String controller) {
    return clients
        .computeIfAbsent(controller, name -> new DriverClient(socket(name).toString()))
        .controller();
  }

  private static Topology topology(String node) {
    return Topology.newBuilder().putSegments(DRIVER + "/node", node).build();
  }

  long capacity(String node) {
    return capacity(CONTROLLER, node);
  }

  long capacity(String controller, String node) {
    return csi(controller)
        .getCapacity(GetCapacityRequest.newBuilder().setAccessibleTopology(topology(node)).build())
        .getAvailableCapacity();
  }

  Volume create(String name, String node) {
    return create(name, node, START);
  }

  Volume create(String name, String node, Duration deadline) {
    Volume volume =
        csi(CONTROLLER)
            .withDeadlineAfter(deadline.toMillis(), TimeUnit.MILLISECONDS)
            .createVolume(
                CreateVolumeRequest.newBuilder()
                    .setName(name)
                    .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(8L << 20))
                    .addVolumeCapabilities(
                        VolumeCapability.newBuilder()
                            .setMount(VolumeCapability.MountVolume.getDefaultInstance())
                            .setAccessMode(
                                VolumeCapability.AccessMode.newBuilder()
                                    .setMode(VolumeCapability.AccessMode.Mode.SINGLE_NODE_WRITER)))
                    .setAccessibilityRequirements(
                        TopologyRequirement.newBuilder().addRequisite(topology(node)))
                    .build())
            .getVolume();
    assertThat(volume.getAccessibleTopologyList()).containsExactly(topology(node));
    return volume;
  }

  void delete(Volume volume) {
    delete(volume, START);
  }

  void delete(Volume volume, Duration deadline) {
    var _ =
        csi(CONTROLLER)
            .withDeadlineAfter(deadline.toMillis(), TimeUnit.MILLISECONDS)
            .deleteVolume(
                DeleteVolumeRequest.newBuilder().setVolumeId(volume.getVolumeId()).build());
  }

  List<String> volumes() {
    return csi(CONTROLLER)
        .listVolumes(ListVolumesRequest.getDefaultInstance())
        .getEntriesList()
        .stream()
        .map(entry -> entry.getVolume().getVolumeId())
        .toList();
  }

  /** What the nodes have on disk. */
  List<Path> images() throws IOException {
    try (var all = Files.walk(directory)) {
      return all.filter(path -> path.toString().endsWith(".img")).toList();
    }
  }

  /** All logs are at the highest level, so that they have what any level would have. */
  void assertNoKeyInLogs() throws IOException {
    List<Path> logs;
    try (var all = Files.list(directory)) {
      logs = all.filter(path -> path.toString().endsWith(".log")).toList();
    }
    assertThat(logs).isNotEmpty();
    for (Path log : logs) {
      String text = Files.readString(log);
      assertThat(text).as(log.toString()).isNotEmpty().doesNotContain("PRIVATE KEY");
      for (Certificates.Issued each : issued) {
        each.keyPem()
            .lines()
            .filter(line -> !line.startsWith("-"))
            .forEach(line -> assertThat(text).as(log.toString()).doesNotContain(line));
      }
    }
  }

  @Override
  public void close() {
    processes.values().forEach(ChildProcess::close);
  }
}
