package io.pmemcsi.operator.guard;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.api.Choice;
import io.pmemcsi.api.DeletionPolicy;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Keeps a driver while somebody needs it, although its resource is being deleted. */
public final class DeletionGuard {

  private static final Duration SOON = Duration.ofSeconds(5);

  /** Nobody empties a cluster of this many in seconds, and counting them costs the server. */
  private static final int MANY = 500;

  private static final Duration LATER = Duration.ofMinutes(1);

  private final UsageReader reader;
  private final String forceAnnotation;

  /**
   * A guard for resources of one kind.
   *
   * @param forceAnnotation with the value true on a resource it lets go whatever is in use
   */
  public DeletionGuard(UsageReader reader, String forceAnnotation) {
    this.reader = reader;
    this.forceAnnotation = forceAnnotation;
  }

  /**
   * Decides on a resource that is being deleted; asks the cluster only where that matters.
   *
   * @param policy as written in the resource
   * @param driver the name of the CSI driver that the resource has installed
   */
  public DeletionDecision decide(HasMetadata resource, @Nullable String policy, String driver) {
    DeletionPolicy read = policy(policy);
    boolean forced = isForced(resource);
    return read == DeletionPolicy.IMMEDIATE || forced
        ? new DeletionDecision.Go()
        : decide(read, forced, reader.read(driver), forceAnnotation);
  }

  /** The decision itself. */
  static DeletionDecision decide(
      DeletionPolicy policy, boolean forced, DriverUsage usage, String forceAnnotation) {
    if (policy == DeletionPolicy.IMMEDIATE || forced || !usage.isUsed()) {
      return new DeletionDecision.Go();
    }
    return new DeletionDecision.Hold(
        ("The driver %s is not removed yet, because these need it: %s. Delete them; or set the"
                + " annotation %s=true to remove the driver now, which leaves their data"
                + " unreachable and mounted volumes behind.")
            .formatted(usage.driver(), usage.describe(), forceAnnotation),
        usage.count() < MANY ? SOON : LATER);
  }

  private boolean isForced(HasMetadata resource) {
    Map<String, String> annotations = resource.getMetadata().getAnnotations();
    return annotations != null && "true".equals(annotations.get(forceAnnotation));
  }

  /** What nobody understands must not cost data: the careful policy. */
  private static DeletionPolicy policy(@Nullable String written) {
    return written == null
        ? DeletionPolicy.WHEN_UNUSED
        : Choice.find(DeletionPolicy.class, written).orElse(DeletionPolicy.WHEN_UNUSED);
  }
}
