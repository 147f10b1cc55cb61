package io.pmemcsi.operator.controller;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * The one merge of conditions.
 *
 * @param type of a condition
 * @param stamped a condition that changes now
 * @param carried what a condition of the same type becomes: first the previous, then the observed
 */
public record Conditions<C>(
    Function<C, String> type, UnaryOperator<C> stamped, BinaryOperator<C> carried) {

  /**
   * Previous conditions keep their order, new ones follow.
   *
   * @param ended previous conditions that disappear unless they were observed
   */
  public List<C> merge(List<C> previous, List<C> observed, Predicate<C> ended) {
    var result = new ArrayList<C>();
    for (C old : previous) {
      find(observed, old)
          .map(now -> carried.apply(old, now))
          .or(() -> ended.test(old) ? Optional.empty() : Optional.of(old))
          .ifPresent(result::add);
    }
    for (C now : observed) {
      if (find(previous, now).isEmpty()) {
        result.add(stamped.apply(now));
      }
    }
    return result;
  }

  private Optional<C> find(List<C> conditions, C same) {
    return conditions.stream().filter(one -> type.apply(one).equals(type.apply(same))).findFirst();
  }
}
