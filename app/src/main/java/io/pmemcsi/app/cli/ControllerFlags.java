package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.DriverSettings;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.controller.ControllerSettings;
import io.pmemcsi.controller.ControllerSettings.CertificateFiles;
import java.util.Optional;
import java.util.UUID;
import picocli.CommandLine.Option;

/** The flags that only {@code -mode=controller} has. */
final class ControllerFlags implements PlainFlags {

  @Option(
      names = "--certFile",
      paramLabel = "FILE",
      order = 13,
      description =
          "Certificate for -schedulerListen in PEM format, read again when it changes (default"
              + " pmem-controller.pem).")
  private String certFile = "pmem-controller.pem";

  @Option(
      names = "--keyFile",
      paramLabel = "FILE",
      order = 14,
      description = "Its key (default pmem-controller-key.pem).")
  private String keyFile = "pmem-controller-key.pem";

  /** Deployments name the CA of that certificate. Clients are not verified, so it is not read. */
  @Option(names = "--caFile", hidden = true)
  private String caFile = "";

  @Override
  public Optional<Runnable> setting(String name, String value) {
    return switch (name) {
      case "--certFile" -> Optional.of(() -> certFile = value);
      case "--keyFile" -> Optional.of(() -> keyFile = value);
      case "--caFile" -> Optional.of(() -> caFile = value);
      default -> Optional.empty();
    };
  }

  /** The part that the controller needs. */
  ControllerSettings settings(DriverSettings driver, CliEnvironment surroundings) {
    return new ControllerSettings(
        driver.driverName(),
        surroundings.variable("POD_NAMESPACE"),
        surroundings.variable("HOSTNAME") + "_" + UUID.randomUUID(),
        driver.nodeSelector().labels(),
        driver.schedulerListen(),
        driver.insecureSchedulerListen(),
        new CertificateFiles(
            Flag.required("-certFile", certFile, FilePath::parse),
            Flag.required("-keyFile", keyFile, FilePath::parse)),
        driver.metricsListen(),
        driver.metricsPath());
  }
}
