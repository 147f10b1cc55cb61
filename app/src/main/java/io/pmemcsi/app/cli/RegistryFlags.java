package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.DriverProgramSettings;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.app.settings.Mode;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.driver.registry.CentralSettings;
import io.pmemcsi.driver.registry.NodeInventory;
import io.pmemcsi.driver.registry.NodeRegistrySettings;
import io.pmemcsi.driver.registry.TcpEndpoint;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import java.util.List;
import java.util.Optional;

/** The flags of central provisioning, on nodes and in the controller. */
final class RegistryFlags {

  /** All flags that a node of central provisioning may be started with, for other commands. */
  static final List<String> NAMES =
      List.of(
          "--registryEndpoint",
          "--controllerEndpoint",
          "--clientCertFile",
          "--clientKeyFile",
          "--caFile",
          "--certFile",
          "--keyFile");

  private static final FlagDefinition REGISTRY_ENDPOINT =
      FlagDefinition.of(
          "--registryEndpoint",
          "URL",
          "",
          "Central provisioning: in mode controller where nodes register, for example"
              + " tcp://0.0.0.0:10000; in mode node where the controller is, for example"
              + " tcp://pmem-csi-controller:10000 (default: each node provisions its own volumes)."
              + " Needs -caFile, -certFile and -keyFile.");
  private static final FlagDefinition CONTROLLER_ENDPOINT =
      FlagDefinition.of(
          "--controllerEndpoint",
          "URL",
          "",
          "Where a node serves the controller of -registryEndpoint, and what it registers: its own"
              + " address, for example tcp://10.0.0.1:10001.");
  private static final FlagDefinition CLIENT_CERT_FILE =
      FlagDefinition.of(
          "--clientCertFile",
          "FILE",
          "",
          "Certificate for connections to the other side, read again when it changes (default"
              + " -certFile).");
  private static final FlagDefinition CLIENT_KEY_FILE =
      FlagDefinition.of("--clientKeyFile", "FILE", "", "Its key (default -keyFile).");

  private final FlagGroup flags =
      new FlagGroup(REGISTRY_ENDPOINT, CONTROLLER_ENDPOINT, CLIENT_CERT_FILE, CLIENT_KEY_FILE);

  FlagGroup group() {
    return flags;
  }

  /** Whether {@code -mode=controller} is the central controller. */
  boolean isCentral(DriverProgramSettings program) {
    return program.mode() == Mode.CONTROLLER && !flags.value(REGISTRY_ENDPOINT).isEmpty();
  }

  /** Those of the given flags that are not used in a mode; for a warning. */
  List<String> withoutEffect(Mode mode) {
    boolean registry =
        (mode == Mode.NODE || mode == Mode.CONTROLLER) && !flags.value(REGISTRY_ENDPOINT).isEmpty();
    return flags.definitions().stream()
        .filter(flag -> !flags.value(flag).isEmpty())
        .filter(flag -> !registry || (mode == Mode.CONTROLLER && flag.equals(CONTROLLER_ENDPOINT)))
        .map(flag -> flag.names().getFirst())
        .toList();
  }

  /** The node's part; empty if the node provisions its own volumes only. */
  Optional<NodeRegistrySettings> node(ControllerFlags tls) {
    if (flags.value(REGISTRY_ENDPOINT).isEmpty()) {
      return Optional.empty();
    }
    if (flags.value(CONTROLLER_ENDPOINT).isEmpty()) {
      throw new UsageException(
          "-registryEndpoint needs -controllerEndpoint: the address at which the controller"
              + " reaches this node");
    }
    TcpEndpoint registry = endpoint("-registryEndpoint", REGISTRY_ENDPOINT);
    TcpEndpoint own = endpoint("-controllerEndpoint", CONTROLLER_ENDPOINT);
    TlsFiles server = serverFiles(tls);
    TlsFiles client = clientFiles(server);
    try {
      return Optional.of(new NodeRegistrySettings(registry, own, server, client));
    } catch (IllegalArgumentException e) {
      throw new UsageException("-" + e.getMessage(), e);
    }
  }

  /** The central controller's part. */
  CentralSettings controller(
      DriverProgramSettings program, ControllerFlags tls, NodeInventory inventory) {
    if (program.schedulerListen().isPresent()
        || program.insecureSchedulerListen().isPresent()
        || !program.nodeSelector().labels().isEmpty()) {
      throw new UsageException(
          "-registryEndpoint cannot be combined with -schedulerListen, -insecureSchedulerListen and"
              + " -nodeSelector: run the scheduler extender as a process of its own, with"
              + " -mode=webhooks");
    }
    TlsFiles server = serverFiles(tls);
    return new CentralSettings(
        program.driver().driverName(),
        program.driver().nodeId(),
        program.driver().endpoint(),
        endpoint("-registryEndpoint", REGISTRY_ENDPOINT),
        server,
        clientFiles(server),
        program.driver().statePath(),
        program.driver().deviceMode().isExpandable(),
        inventory);
  }

  private static TlsFiles serverFiles(ControllerFlags tls) {
    return new TlsFiles(
        tls.caFile()
            .orElseThrow(
                () ->
                    new UsageException(
                        "-registryEndpoint needs -caFile: the CA that has signed the certificates"
                            + " of controller and nodes")),
        tls.certFile(),
        tls.keyFile());
  }

  private TlsFiles clientFiles(TlsFiles server) {
    String certificate = flags.value(CLIENT_CERT_FILE);
    String key = flags.value(CLIENT_KEY_FILE);
    if (certificate.isEmpty() != key.isEmpty()) {
      throw new UsageException("-clientCertFile and -clientKeyFile belong together: give both");
    }
    return certificate.isEmpty()
        ? server
        : new TlsFiles(
            server.ca(),
            Flag.required("-clientCertFile", certificate, FilePath::parse),
            Flag.required("-clientKeyFile", key, FilePath::parse));
  }

  private TcpEndpoint endpoint(String name, FlagDefinition flag) {
    return Flag.required(name, flags.value(flag), TcpEndpoint::parse);
  }
}
