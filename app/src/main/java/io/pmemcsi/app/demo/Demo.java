package io.pmemcsi.app.demo;

import java.io.PrintStream;

/** Runs both halves one after the other. */
public final class Demo {

  private Demo() {}

  /** Shows everything; throws when something did not go as it should. */
  public static void run(PrintStream out) {
    Narrator narrator = new Narrator(out);
    narrator.say("PMEM-CSI with no cluster and no PMEM. What is simulated is called simulated.");

    try (Interruption interruption = Interruption.watch()) {
      new OperatorHalf(narrator, interruption).run();
      new DriverHalf(narrator, interruption).run();
    }
    narrator.say(
        "\nDone in %s; nothing is left behind.".formatted(Narrator.seconds(narrator.elapsed())));
  }
}
