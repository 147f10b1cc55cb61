package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** A node whose driver does not have the desired revision. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record OutdatedNode(
    @Required @JsonPropertyDescription("Name of the node.") String node,
    @JsonPropertyDescription("Revision that the node runs.") @Nullable String revision,
    @JsonPropertyDescription(
            "Whether the driver can be restarted now because no pod on the node uses its volumes.")
        @Nullable Boolean safeToRestart,
    @JsonPropertyDescription(
            "Step of a draining update: Cordoned, Evicting, Unmounting, Restarting, Registering or"
                + " Uncordoning; nothing while the node waits for its turn.")
        @Nullable String step,
    @JsonPropertyDescription("When this step began.") @Nullable Instant since,
    @JsonPropertyDescription("What the node is waiting for.") @Nullable String message) {

  public OutdatedNode {
    since = since == null ? null : since.truncatedTo(ChronoUnit.SECONDS);
  }
}
