package io.pmemcsi.api.pmem;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** A node that does not exist any more, and what is bound to it. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LostNode(
    @Required @JsonPropertyDescription("Name of the node.") String node,
    @Required @JsonPropertyDescription("When the operator found the node deleted.") Instant since,
    @Required @JsonPropertyDescription("PersistentVolumes on the node.") Bound volumes,
    @Required @JsonPropertyDescription("Claims that are bound to these volumes.") Bound claims,
    @Required @JsonPropertyDescription("Pods that use these claims, running or not.") Bound pods) {

  public LostNode {
    since = since.truncatedTo(ChronoUnit.SECONDS);
  }

  /** A count of objects with the first of their names. */
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  public record Bound(
      @Required @JsonPropertyDescription("How many there are.") int count,
      @JsonPropertyDescription("The first names, with their namespaces.") List<String> names) {

    /** A status must stay small. */
    private static final int MAX_NAMES = 5;

    public Bound {
      names = names == null ? List.of() : List.copyOf(names);
    }

    /** Counts these names. */
    public static Bound of(List<String> names) {
      return new Bound(names.size(), names.stream().limit(MAX_NAMES).toList());
    }
  }
}
