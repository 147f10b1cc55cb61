package io.pmemcsi.app.cli;

import io.pmemcsi.app.convert.NodeConversion;
import io.pmemcsi.app.settings.DriverSettings;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.driver.NodeDriver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code pmem-csi driver}. */
@Command(
    name = "driver",
    mixinStandardHelpOptions = true,
    description = {
      "Serves CSI volumes on the persistent memory of this node.",
      "Flags may be written with one dash or two.%n"
    },
    footer = {
      "",
      "Environment: KUBECONFIG is how to reach the cluster, for force-convert-raw-namespaces only"
          + " (default: the pod's own account, else ~/.kube/config); TERMINATION_LOG_PATH is a file"
          + " for the reason of a failure."
    })
final class DriverCommand implements Callable<Integer> {

  private static final Logger LOG = LoggerFactory.getLogger(DriverCommand.class);

  /** The sidecars of a pod get the signal at the same time and still have a call or two. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  @Mixin private final DriverFlags flags = new DriverFlags();
  @Mixin private final LogFlags log = new LogFlags();

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
  private CommandSpec spec;

  private final CliEnvironment surroundings;

  DriverCommand(CliEnvironment surroundings) {
    this.surroundings = surroundings;
  }

  /** Takes a command line of the simplest form; false when picocli has to look at it. */
  boolean takes(List<String> arguments) {
    return PlainFlags.set(arguments, List.of(flags, log));
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
    DriverSettings settings = flags.settings(surroundings);
    log.apply();
    switch (settings.mode()) {
      case NODE -> {
        sayStarted(settings, warning);
        UntilStopped.run(() -> NodeDriver.start(settings.node()), GRACE, DriverCommand::sayStopped);
      }
      case FORCE_CONVERT_RAW_NAMESPACES -> {
        sayStarted(settings, warning);
        NodeConversion.run(settings, Kubeconfig.read(settings.kubeconfig(), surroundings));
        // whoever ends here is started again by its DaemonSet until that has seen the new labels
        UntilStopped.run(() -> () -> {}, Duration.ZERO, DriverCommand::sayStopped);
      }
      case WEBHOOKS, CONTROLLER ->
          throw new FatalException(
              "-mode=%s is not part of this release: use -mode=node".formatted(settings.mode()));
    }
    return 0;
  }

  private static void sayStarted(DriverSettings settings, Runnable warning) {
    LOG.atInfo()
        .addKeyValue("version", Version.current())
        .addKeyValue("mode", settings.mode())
        .log("PMEM-CSI started.");
    warning.run();
  }

  private static void sayStopped() {
    LOG.atInfo().log("PMEM-CSI stopped.");
  }
}
