package io.pmemcsi.operator.usage;

import java.util.ArrayList;
import java.util.List;

/**
 * A count of objects, with the names of the first few.
 *
 * @param examples at most {@link #MAX_EXAMPLES}, in the order in which they were found
 */
public record SampledCount(int count, List<String> examples) {

  /** Enough to know where to start; a status must stay small. */
  public static final int MAX_EXAMPLES = 5;

  public static final SampledCount NONE = new SampledCount(0, List.of());

  public SampledCount {
    examples = List.copyOf(examples);
    if (count < examples.size() || examples.size() > MAX_EXAMPLES) {
      throw new IllegalArgumentException(
          "%d examples for a count of %d".formatted(examples.size(), count));
    }
  }

  /** Counts these names. */
  public static SampledCount of(List<String> names) {
    return new SampledCount(names.size(), names.stream().limit(MAX_EXAMPLES).toList());
  }

  /** The sum of both. */
  public SampledCount and(SampledCount other) {
    var names = new ArrayList<>(examples);
    names.addAll(other.examples);
    return new SampledCount(count + other.count, names.stream().limit(MAX_EXAMPLES).toList());
  }

  /** Such as {@code 2 pods (a, b)}. */
  String describe(String one, String several) {
    String more = count > examples.size() ? " and %d more".formatted(count - examples.size()) : "";
    return "%d %s (%s%s)"
        .formatted(count, count == 1 ? one : several, String.join(", ", examples), more);
  }
}
