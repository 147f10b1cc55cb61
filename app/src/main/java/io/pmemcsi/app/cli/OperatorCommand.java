package io.pmemcsi.app.cli;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.app.settings.OperatorSettings;
import io.pmemcsi.operator.facts.OwnPod;
import io.pmemcsi.operator.runtime.ApiAccess;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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

  @Mixin private final OperatorFlags flags = new OperatorFlags();
  private final LogFlags log = new LogFlags();

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
  private CommandSpec spec;

  private final CliEnvironment environment;

  OperatorCommand(CliEnvironment environment) {
    this.environment = environment;
  }

  @Override
  public void addOptions(CommandSpec command) {
    PicocliOptions.add(command, log.group(), 100);
  }

  @Override
  public Integer call() throws Exception {
    OperatorSettings settings = flags.settings(environment);
    log.apply();
    RetiredFlags.warn(spec, LogFlags.WITHOUT_EFFECT);
    RetiredFlags.warn(spec, OperatorFlags.WITHOUT_EFFECT);
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
    OperatorProgram program =
        OperatorProgram.start(options, environment.environment(), ending::atOnce);
    KubernetesClient client = ApiAccess.client(options.kubeconfig());
    var rescheduler =
        OperatorRescheduler.start(client, new OwnPod(environment.environment()).namespace());
    return () -> {
      rescheduler.close();
      client.close();
      program.close();
    };
  }
}
