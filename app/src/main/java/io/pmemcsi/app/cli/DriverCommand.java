package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.DriverSettings;
import io.pmemcsi.base.error.FatalException;
import java.util.concurrent.Callable;
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
    })
final class DriverCommand implements Callable<Integer> {

  @Mixin private final DriverFlags flags = new DriverFlags();
  @Mixin private final LogFlags log = new LogFlags();

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
  private CommandSpec spec;

  private final Surroundings surroundings;

  DriverCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    DriverSettings settings = flags.settings(surroundings);
    log.apply();
    RetiredFlags.warn(spec, LogFlags.WITHOUT_EFFECT);
    RetiredFlags.warn(spec, DriverFlags.WITHOUT_EFFECT);
    throw new FatalException("-mode=%s is not part of this build yet".formatted(settings.mode()));
  }
}
