package io.pmemcsi.app.cli;

import io.pmemcsi.app.convert.NodeConversion;
import io.pmemcsi.app.settings.DriverProgramSettings;
import io.pmemcsi.app.taint.PodApiAccess;
import io.pmemcsi.app.taint.TaintRemoval;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.controller.ControllerProgram;
import io.pmemcsi.controller.ControllerSettings;
import io.pmemcsi.driver.CentralDriver;
import io.pmemcsi.driver.DriverSettings;
import io.pmemcsi.driver.NodeDriver;
import io.pmemcsi.driver.registry.CentralSettings;
import io.pmemcsi.driver.registry.NodeRegistrySettings;
import io.pmemcsi.operator.runtime.ApiAccess;
import io.pmemcsi.operator.runtime.KubeconfigContent;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code pmem-csi driver}. */
@Command(
    name = "driver",
    mixinStandardHelpOptions = true,
    description = {
      "Serves CSI volumes on the persistent memory of this node, or helps the scheduler to choose"
          + " nodes that have enough of it.",
      "Flags may be written with one dash or two.%n"
    },
    footer = {
      "",
      "Environment: KUBECONFIG is how to reach the cluster, for controller and"
          + " force-convert-raw-namespaces only (default: the pod's own account, else"
          + " ~/.kube/config); POD_NAMESPACE is the namespace of the driver, for controller only;"
          + " TERMINATION_LOG_PATH is a file for the reason of a failure."
    })
final class DriverCommand implements Callable<Integer>, HasFlags {

  private static final Logger LOG = LoggerFactory.getLogger(DriverCommand.class);

  /** The sidecars of a pod get the signal at the same time and still have a call or two. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private final DriverFlags flags = new DriverFlags();
  private final ControllerFlags controllerFlags = new ControllerFlags();
  private final RegistryFlags registryFlags = new RegistryFlags();
  private final LogFlags log = new LogFlags();

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
  private CommandSpec spec;

  private final CliEnvironment environment;

  DriverCommand(CliEnvironment environment) {
    this.environment = environment;
  }

  /** Takes a command line of the simplest form; false when picocli must parse it. */
  boolean takes(List<String> arguments) {
    return FlagGroup.parse(
        arguments,
        List.of(flags.group(), controllerFlags.group(), registryFlags.group(), log.group()));
  }

  @Override
  public void addOptions(CommandSpec command) {
    PicocliOptions.add(command, flags.group(), 1);
    PicocliOptions.add(command, controllerFlags.group(), 50);
    PicocliOptions.add(command, registryFlags.group(), 60);
    PicocliOptions.add(command, log.group(), 100);
  }

  @Override
  public Integer call() throws Exception {
    return run(
        () -> {
          RetiredFlags.warn(spec, LogFlags.WITHOUT_EFFECT);
          RetiredFlags.warn(spec, DriverFlags.WITHOUT_EFFECT);
        });
  }

  int run(Runnable warning) throws Exception {
    DriverProgramSettings settings = flags.settings(environment);
    log.apply();
    switch (settings.mode()) {
      case NODE -> {
        Optional<NodeRegistrySettings> registry = registryFlags.node(controllerFlags);
        sayStarted(settings, warning);
        UntilStopped.run(() -> startNode(settings, registry), GRACE, DriverCommand::sayStopped);
      }
      case FORCE_CONVERT_RAW_NAMESPACES -> {
        sayStarted(settings, warning);
        NodeConversion.run(settings, Kubeconfig.read(settings.kubeconfig(), environment));
        // the DaemonSet restarts a pod that ends here until it has seen the new labels
        UntilStopped.run(() -> () -> {}, Duration.ZERO, DriverCommand::sayStopped);
      }
      case WEBHOOKS, CONTROLLER -> runController(settings, warning);
    }
    return 0;
  }

  /** The driver, and what waits until it is registered, where that is requested. */
  private AutoCloseable startNode(
      DriverProgramSettings settings, Optional<NodeRegistrySettings> registry) {
    DriverSettings node = settings.driver().withRegistry(registry);
    if (!settings.startupTaint()) {
      return NodeDriver.start(node);
    }
    PodApiAccess api = PodApiAccess.ofPod(environment::variable);
    NodeDriver driver = NodeDriver.start(node);
    TaintRemoval removal = TaintRemoval.start(api, node.driverName(), node.nodeId());
    return () -> {
      removal.close();
      driver.close();
    };
  }

  private void runController(DriverProgramSettings settings, Runnable warning) throws Exception {
    if (registryFlags.isCentral(settings)) {
      Optional<KubeconfigContent> access =
          settings.kubeconfig().isPresent()
              ? Kubeconfig.read(settings.kubeconfig(), environment)
              : Optional.empty();
      CentralSettings central =
          registryFlags.controller(
              settings,
              controllerFlags,
              RegisteredDrivers.of(settings.driver().driverName(), access, environment));
      sayStarted(settings, warning);
      UntilStopped.run(
          () ->
              CentralDriver.start(
                  central, settings.driver().metricsListen(), settings.driver().metricsPath()),
          GRACE,
          DriverCommand::sayStopped);
      return;
    }
    ControllerSettings controller = controllerFlags.settings(settings, environment);
    Optional<KubeconfigContent> kubeconfig = Kubeconfig.read(settings.kubeconfig(), environment);
    sayStarted(settings, warning);
    UntilStopped.run(
        () ->
            ControllerProgram.start(
                ApiAccess.client(kubeconfig), controller, ControllerProgram.Timing.DEFAULT),
        // it drains its connections itself
        Duration.ZERO,
        DriverCommand::sayStopped);
  }

  private void sayStarted(DriverProgramSettings settings, Runnable warning) {
    LOG.atInfo()
        .addKeyValue("version", Version.current())
        .addKeyValue("mode", settings.mode())
        .log("PMEM-CSI started.");
    warning.run();
    for (String flag : registryFlags.withoutEffect(settings.mode())) {
      LOG.atWarn()
          .addKeyValue("flag", flag)
          .log(
              "Flag has no effect: it is for central provisioning, with -registryEndpoint and"
                  + " -mode=node or -mode=controller.");
    }
  }

  private static void sayStopped() {
    LOG.atInfo().log("PMEM-CSI stopped.");
  }
}
