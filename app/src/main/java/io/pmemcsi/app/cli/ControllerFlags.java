package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.DriverProgramSettings;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.controller.ControllerSettings;
import io.pmemcsi.controller.ControllerSettings.CertificateFiles;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;

/** The flags of {@code -mode=controller} and, for TLS, of nodes with a central controller. */
final class ControllerFlags {
  private static final FlagDefinition CERT_FILE =
      FlagDefinition.of(
          "--certFile",
          "FILE",
          "pmem-controller.pem",
          "Certificate for -schedulerListen, -registryEndpoint or -controllerEndpoint in PEM format,"
              + " read again when it changes (default pmem-controller.pem).");
  private static final FlagDefinition KEY_FILE =
      FlagDefinition.of(
          "--keyFile",
          "FILE",
          "pmem-controller-key.pem",
          "Its key (default pmem-controller-key.pem).");

  /** Not read for {@code -schedulerListen}: clients of the extender are not verified. */
  private static final FlagDefinition CA_FILE =
      FlagDefinition.of(
          "--caFile", "FILE", "", "CA that the other side of -registryEndpoint is verified with.");

  private final FlagGroup flags = new FlagGroup(CERT_FILE, KEY_FILE, CA_FILE);

  FlagGroup group() {
    return flags;
  }

  /** The part that the controller needs. */
  ControllerSettings settings(DriverProgramSettings program, CliEnvironment environment) {
    return new ControllerSettings(
        program.driver().driverName(),
        environment.variable("POD_NAMESPACE"),
        environment.variable("HOSTNAME") + "_" + UUID.randomUUID(),
        program.nodeSelector().labels(),
        program.schedulerListen(),
        program.insecureSchedulerListen(),
        new CertificateFiles(certFile(), keyFile()),
        program.driver().metricsListen(),
        program.driver().metricsPath());
  }

  Path certFile() {
    return Flag.required("-certFile", flags.value(CERT_FILE), FilePath::parse);
  }

  Path keyFile() {
    return Flag.required("-keyFile", flags.value(KEY_FILE), FilePath::parse);
  }

  Optional<Path> caFile() {
    return Flag.optional("-caFile", flags.value(CA_FILE), FilePath::parse);
  }
}
