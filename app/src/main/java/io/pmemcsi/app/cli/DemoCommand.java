package io.pmemcsi.app.cli;

import io.pmemcsi.app.demo.Demo;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.base.log.LogFormat;
import io.pmemcsi.base.log.Logging;
import io.pmemcsi.base.log.Verbosity;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code pmem-csi demo}. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Shows the operator on an in-process Kubernetes API and the driver on file-backed devices.",
      ""
    })
final class DemoCommand implements Callable<Integer> {

  @Option(
      names = {"-v", "--v"},
      paramLabel = "LEVEL",
      description = "Log level, to see what the parts say themselves (default 0: warnings only).")
  private int verbosity;

  private final Surroundings surroundings;

  DemoCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    Verbosity level =
        Flag.required(
            "-v", Integer.toString(verbosity), text -> new Verbosity(Integer.parseInt(text)));
    Logging.configure(LogFormat.TEXT, level);
    Demo.run(surroundings.out());
    return 0;
  }
}
