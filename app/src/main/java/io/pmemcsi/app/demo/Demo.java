package io.pmemcsi.app.demo;

import java.io.PrintStream;
import java.util.Set;

/** Runs both halves one after the other, or one of them. */
public final class Demo {

  /** What can be shown by itself. */
  public enum Half {
    OPERATOR,
    DRIVER;

    /**
     * The half that a user names.
     *
     * @throws IllegalArgumentException that says what can be named
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

  /** Shows the wanted halves; throws when something did not go as it should. */
  public static void run(PrintStream out, Set<Half> wanted) {
    Narrator narrator = new Narrator(out);
    narrator.say("PMEM-CSI with no cluster and no PMEM. What is simulated is called simulated.");

    try (Interruption interruption = Interruption.watch()) {
      if (wanted.contains(Half.OPERATOR)) {
        new OperatorDemo(narrator, interruption).run();
      }
      if (wanted.contains(Half.DRIVER)) {
        new DriverDemo(narrator, interruption).run();
      }
    }
    narrator.say(
        "\nDone in %s; nothing is left behind.".formatted(Narrator.seconds(narrator.elapsed())));
  }
}
