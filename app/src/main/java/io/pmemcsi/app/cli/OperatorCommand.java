package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.OperatorSettings;
import io.pmemcsi.base.error.FatalException;
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
      "Installs CSI drivers in a cluster and looks after them.",
      "Flags may be written with one dash or two.%n"
    })
final class OperatorCommand implements Callable<Integer> {

  @Mixin private final OperatorFlags flags = new OperatorFlags();
  @Mixin private final LogFlags log = new LogFlags();

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
  private CommandSpec spec;

  private final Surroundings surroundings;

  OperatorCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    OperatorSettings settings = flags.settings(surroundings);
    log.apply();
    RetiredFlags.warn(spec, LogFlags.WITHOUT_EFFECT);
    RetiredFlags.warn(spec, OperatorFlags.WITHOUT_EFFECT);
    throw new FatalException(
        "the operator is not part of this build yet%s"
            .formatted(settings.image().map(image -> " (image " + image + ")").orElse("")));
  }
}
