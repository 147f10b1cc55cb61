package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.DriverProgramSettings;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.controller.ControllerSettings;
import io.pmemcsi.controller.ControllerSettings.CertificateFiles;
import java.util.UUID;

/** The flags that only {@code -mode=controller} has. */
final class ControllerFlags {
  private static final FlagDefinition CERT_FILE =
      FlagDefinition.of(
          "--certFile",
          "FILE",
          "pmem-controller.pem",
          "Certificate for -schedulerListen in PEM format, read again when it changes (default"
              + " pmem-controller.pem).");
  private static final FlagDefinition KEY_FILE =
      FlagDefinition.of(
          "--keyFile",
          "FILE",
          "pmem-controller-key.pem",
          "Its key (default pmem-controller-key.pem).");

  /** Deployments name the CA of that certificate. Clients are not verified, so it is not read. */
  private static final FlagDefinition CA_FILE = FlagDefinition.hidden("--caFile");

  private final FlagGroup flags = new FlagGroup(CERT_FILE, KEY_FILE, CA_FILE);

  FlagGroup group() {
    return flags;
  }

  /** The part that the controller needs. */
  ControllerSettings settings(DriverProgramSettings program, CliEnvironment surroundings) {
    return new ControllerSettings(
        program.driver().driverName(),
        surroundings.variable("POD_NAMESPACE"),
        surroundings.variable("HOSTNAME") + "_" + UUID.randomUUID(),
        program.nodeSelector().labels(),
        program.schedulerListen(),
        program.insecureSchedulerListen(),
        new CertificateFiles(
            Flag.required("-certFile", flags.value(CERT_FILE), FilePath::parse),
            Flag.required("-keyFile", flags.value(KEY_FILE), FilePath::parse)),
        program.driver().metricsListen(),
        program.driver().metricsPath());
  }
}
