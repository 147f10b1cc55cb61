package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.app.settings.NamespaceName;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.operator.certs.ControllerSecret;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code pmem-csi certificates}. */
@Command(
    name = "certificates",
    mixinStandardHelpOptions = true,
    customSynopsis = "pmem-csi certificates [OPTIONS] | kubectl apply -f -",
    description = {
      "Prints the TLS secret of a controller that is installed without the operator.",
      "It is signed by a new CA, whose key is not kept: for new certificates call it again. The"
          + " comment has the caBundle for the webhook and the caData for kube-scheduler.%n"
    },
    footer = {
      "",
      "For example: pmem-csi certificates --driver pmem-csi.intel.com --namespace pmem-csi >secret.yaml"
    })
final class CertificatesCommand implements Callable<Integer> {

  private static final int MAX_DAYS = 3650;

  @Option(
      names = "--driver",
      paramLabel = "NAME",
      order = 1,
      description = "Name of the CSI driver (default pmem-csi.intel.com).")
  private String driver = "pmem-csi.intel.com";

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "NAME",
      order = 2,
      description = "The namespace of the driver (default pmem-csi).")
  private String namespace = "pmem-csi";

  @Option(
      names = "--name",
      paramLabel = "HOST",
      order = 3,
      description =
          "One more host name or address by which kube-scheduler calls the controller; may be"
              + " repeated. The services of the driver and 127.0.0.1 are always included.")
  private List<String> names = new ArrayList<>();

  @Option(
      names = "--days",
      paramLabel = "N",
      order = 4,
      description = "For how long the certificate is valid (default 365).")
  private int days = 365;

  @Option(
      names = "--show-keys",
      order = 5,
      description = "Print the key even if standard output is a terminal.")
  private boolean showKeys;

  private final CliEnvironment environment;
  private final BooleanSupplier terminal;

  CertificatesCommand(CliEnvironment environment) {
    this(environment, CertificatesCommand::isTerminal);
  }

  /**
   * The same with a terminal of a test.
   *
   * @param terminal whether standard output is a terminal
   */
  CertificatesCommand(CliEnvironment environment, BooleanSupplier terminal) {
    this.environment = environment;
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    DriverName name = Flag.required("--driver", driver, DriverName::new);
    String where = Flag.required("--namespace", namespace, NamespaceName::new).value();
    if (days < 1 || days > MAX_DAYS) {
      throw new UsageException("--days=%d is outside 1 to %d".formatted(days, MAX_DAYS));
    }
    if (!showKeys && terminal.getAsBoolean()) {
      throw new UsageException(
          "standard output is a terminal, where the private key would stay visible: redirect it to"
              + " a file or to kubectl apply -f -, or give --show-keys");
    }
    String yaml =
        Flag.required(
            "--name",
            String.join(",", names),
            _ -> ControllerSecret.yaml(name, where, names, Duration.ofDays(days), Instant.now()));
    environment.out().print(yaml);
    return 0;
  }

  /** The JDK's own check says no as soon as standard input is something else. */
  @SuppressWarnings("SystemConsoleNull") // a trimmed runtime may have no console at all
  private static boolean isTerminal() {
    try {
      Path out = Files.readSymbolicLink(Path.of("/proc/self/fd/1"));
      return out.startsWith("/dev/pts") || out.toString().matches("/dev/(tty.*|console)");
    } catch (IOException e) {
      return System.console() != null && System.console().isTerminal();
    }
  }
}
