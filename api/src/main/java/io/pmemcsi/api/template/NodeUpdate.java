package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How far a changed template has reached the nodes. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record NodeUpdate(
    @JsonPropertyDescription("Desired revision of all nodes.") @Nullable String revision,
    @JsonPropertyDescription("Number of nodes on which the driver should run.")
        @Nullable Integer nodes,
    @JsonPropertyDescription("Number of nodes that run the desired revision.")
        @Nullable Integer updatedNodes,
    @JsonPropertyDescription("Whether the update is blocked until a user fixes a problem.")
        @Nullable Boolean paused,
    @JsonPropertyDescription("What the update is waiting for.") @Nullable String message,
    @JsonPropertyDescription(
            "Nodes that run an older revision, at most 100 of them; the counts say how many there"
                + " are.")
        List<OutdatedNode> outdated) {

  /** How many outdated nodes are listed by name, so that the object stays small. */
  public static final int MAX_LISTED = 100;

  public NodeUpdate {
    outdated = outdated == null ? List.of() : outdated.stream().limit(MAX_LISTED).toList();
  }
}
