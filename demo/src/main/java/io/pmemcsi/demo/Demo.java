package io.pmemcsi.demo;

import java.io.PrintStream;
import java.util.Set;

/** Runs both halves one after the other, or one of them. */
public final class Demo {

  /** A part of the demo. */
  public enum Half {
    OPERATOR,
    DRIVER;

    /**
     * Parses the value of --only.
     *
     * @throws IllegalArgumentException for any other value
     */
    public static Half parse(String name) {
      return switch (name) {
        case "operator" -> OPERATOR;
        case "driver" -> DRIVER;
        default -> throw new IllegalArgumentException("it should be operator or driver");
      };
    }
  }

  private Demo() {}

  /** Shows the requested halves; throws if one fails. */
  public static void run(PrintStream out, Set<Half> halves) {
    Narrator narrator = new Narrator(out);
    narrator.say("PMEM-CSI with no cluster and no PMEM. What is simulated is called simulated.");

    try (Interruption interruption = Interruption.watch()) {
      if (halves.contains(Half.OPERATOR)) {
        new OperatorDemo(narrator, interruption).run();
      }
      if (halves.contains(Half.DRIVER)) {
        new DriverDemo(narrator, interruption).run();
      }
    }
    narrator.say(
        "\nDone in %s; nothing is left behind.".formatted(Narrator.seconds(narrator.elapsed())));
  }
}
