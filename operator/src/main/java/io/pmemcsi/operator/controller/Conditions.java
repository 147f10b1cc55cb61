package io.pmemcsi.operator.controller;

import io.pmemcsi.api.StandardCondition;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

/** The one merge of conditions. */
public final class Conditions {

  private Conditions() {}

  /**
   * Previous conditions keep their order, new ones follow.
   *
   * @param ended previous conditions that disappear unless they were observed
   */
  public static <C extends StandardCondition<C>> List<C> merge(
      List<C> previous, List<C> observed, Predicate<C> ended, Instant now) {
    var result = new ArrayList<C>();
    for (C old : previous) {
      find(observed, old)
          .map(found -> carried(old, found, now))
          .or(() -> ended.test(old) ? Optional.empty() : Optional.of(old))
          .ifPresent(result::add);
    }
    for (C found : observed) {
      if (find(previous, found).isEmpty()) {
        result.add(found.changed(now, now));
      }
    }
    return result;
  }

  /** With one condition more, or another one of its type. */
  public static <C extends StandardCondition<C>> List<C> with(
      List<C> previous, C observed, Instant now) {
    return merge(previous, List.of(observed), _ -> false, now);
  }

  private static <C extends StandardCondition<C>> C carried(C old, C found, Instant now) {
    if (found.equalsIgnoringTime(old)) {
      return old;
    }
    boolean sameStatus = found.status().equals(old.status());
    return found.changed(
        sameStatus ? Objects.requireNonNullElse(old.lastTransitionTime(), now) : now, now);
  }

  private static <C extends StandardCondition<C>> Optional<C> find(List<C> conditions, C same) {
    return conditions.stream().filter(one -> one.type().equals(same.type())).findFirst();
  }
}
