package io.pmemcsi.demo;

import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.base.log.LogFormat;
import io.pmemcsi.base.log.Logging;
import io.pmemcsi.base.log.Verbosity;
import java.io.PrintStream;
import java.util.EnumSet;
import java.util.Set;
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
      description = "Log level of operator and driver (default 0: warnings only).")
  private int verbosity;

  @Option(
      names = "--only",
      paramLabel = "HALF",
      description = "What to show: operator or driver (default: both).")
  private String only = "";

  private final PrintStream out;

  DemoCommand(PrintStream out) {
    this.out = out;
  }

  @Override
  public Integer call() {
    Verbosity level =
        Flag.required(
            "-v", Integer.toString(verbosity), text -> new Verbosity(Integer.parseInt(text)));
    Logging.configure(LogFormat.TEXT, level);
    Demo.run(
        out,
        Flag.optional("--only", only, Demo.Half::parse)
            .map(Set::of)
            .orElse(EnumSet.allOf(Demo.Half.class)));
    return 0;
  }
}
