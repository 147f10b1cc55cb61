package io.pmemcsi.operator.reconcile;

import io.pmemcsi.operator.engine.Disputes;
import java.util.List;
import java.util.stream.Collectors;

/** Objects that others set back each time that we have mended them: who does it, what to do. */
public final class Contested {

  private Contested() {}

  public static String describe(List<Disputes.Dispute> disputes) {
    return disputes.stream().map(Contested::describe).collect(Collectors.joining("; "))
        + ": let it leave the object alone, or set here what it wants; it is now set back every"
        + " %d seconds only".formatted(Disputes.PAUSE.toSeconds());
  }

  private static String describe(Disputes.Dispute dispute) {
    return dispute.rivals().isEmpty()
        ? "%s is deleted again and again (the audit log of the API server tells by whom)"
            .formatted(dispute.object())
        : "%s is changed again and again by %s"
            .formatted(
                dispute.object(),
                dispute.rivals().stream()
                    .map("\"%s\""::formatted)
                    .collect(Collectors.joining(", ")));
  }
}
