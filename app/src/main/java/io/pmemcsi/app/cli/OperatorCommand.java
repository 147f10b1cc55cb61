package io.pmemcsi.app.cli;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.app.settings.OperatorSettings;
import io.pmemcsi.operator.facts.OwnPod;
import io.pmemcsi.operator.runtime.ApiAccess;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code pmem-csi operator}. */
@Command(
    name = "operator",
    mixinStandardHelpOptions = true,
    description = {
      "Installs CSI drivers in a cluster and manages them.",
      "Flags may be written with one dash or two.%n"
    },
    footer = {
      "",
      "Environment: WATCH_NAMESPACE is the namespace for the objects of drivers (default: that of"
          + " the own account, else kube-system), POD_NAME the own pod and OPERATOR_NAME its"
          + " container (default pmem-csi-operator), whose image drivers get;"
          + " TERMINATION_LOG_PATH is a file for the reason of a failure."
    })
final class OperatorCommand implements Callable<Integer>, HasFlags {

  private final OperatorFlags flags = new OperatorFlags();
  private final LogFlags log = new LogFlags();

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
  private CommandSpec spec;

  private final CliEnvironment environment;

  OperatorCommand(CliEnvironment environment) {
    this.environment = environment;
  }

  /** Takes a command line of the simplest form; false when picocli must parse it. */
  boolean takes(List<String> arguments) {
    return FlagGroup.parse(arguments, List.of(flags.group(), log.group()));
  }

  @Override
  public void addOptions(CommandSpec command) {
    PicocliOptions.add(command, flags.group(), 1);
    PicocliOptions.add(command, log.group(), 100);
  }

  @Override
  public Integer call() throws Exception {
    return run(
        () -> {
          RetiredFlags.warn(spec, LogFlags.WITHOUT_EFFECT);
          RetiredFlags.warn(spec, OperatorFlags.WITHOUT_EFFECT);
        });
  }

  int run(Runnable warning) throws Exception {
    OperatorSettings settings = flags.settings(environment);
    log.apply();
    warning.run();
    OperatorOptions options =
        new OperatorOptions(
            Kubeconfig.read(settings.kubeconfig(), environment),
            settings.image(),
            settings.metricsAddress(),
            settings.leaderElection(),
            settings.config());
    ExitHandler ending = new ExitHandler(environment);
    UntilStopped.run(() -> start(options, ending), Duration.ZERO, () -> {});
    return 0;
  }

  private AutoCloseable start(OperatorOptions options, ExitHandler ending) {
    KubernetesClient client = ApiAccess.client(options.kubeconfig());
    try {
      OperatorProgram program =
          OperatorProgram.start(client, options, environment.environment(), ending::atOnce);
      var rescheduler =
          OperatorRescheduler.start(
              client,
              new OwnPod(environment.environment()).namespace(),
              program.metrics()::rescheduled);
      var heap = new HeapTrimmer();
      heap.start();
      return () -> {
        heap.close();
        rescheduler.close();
        program.close();
        client.close();
      };
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
  }
}
