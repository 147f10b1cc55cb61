package io.pmemcsi.operator.deletion;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.api.DeletionPolicy;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import io.pmemcsi.operator.facts.RequeuePeriods;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.operator.usage.UsageReader;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Keeps a driver whose resource is being deleted until nothing uses it. */
public final class DeletionGuard {

  /** With more objects than this, counting is expensive and the end is far away. */
  private static final int MANY = 500;

  private final UsageReader reader;
  private final String forceAnnotation;

  /**
   * A guard for resources of one kind.
   *
   * @param forceAnnotation allows the deletion of a resource on which its value is true
   */
  public DeletionGuard(UsageReader reader, String forceAnnotation) {
    this.reader = reader;
    this.forceAnnotation = forceAnnotation;
  }

  /**
   * Decides on a resource that is being deleted; reads the cluster only where that matters.
   *
   * @param policy as written in the resource
   * @param driver the name of the CSI driver that the resource has installed
   */
  public DeletionDecision decide(HasMetadata resource, @Nullable String policy, String driver) {
    return usage(resource, policy, driver)
        .flatMap(usage -> hold(usage, forceAnnotation))
        .<DeletionDecision>map(hold -> hold)
        .orElseGet(DeletionDecision.Allow::new);
  }

  /**
   * What uses a driver. Nothing is read, and empty is returned, where it does not matter.
   *
   * @param policy as written in the resource
   * @param driver the name of the CSI driver that the resource has installed
   */
  public Optional<DriverUsage> usage(HasMetadata resource, @Nullable String policy, String driver) {
    return DeletionPolicy.of(policy) == DeletionPolicy.IMMEDIATE || isForced(resource)
        ? Optional.empty()
        : Optional.of(reader.read(driver));
  }

  /**
   * The pure decision.
   *
   * @param forceAnnotation with which users can remove the driver nevertheless
   */
  public static Optional<Hold> hold(DriverUsage usage, String forceAnnotation) {
    if (!usage.isUsed()) {
      return Optional.empty();
    }
    return Optional.of(
        new Hold(
            ("The driver %s is not removed yet, because these need it: %s. Delete them; or set the"
                    + " annotation %s=true to remove the driver now, which leaves their data"
                    + " unreachable and mounted volumes behind.")
                .formatted(usage.driver(), usage.describe(), forceAnnotation),
            usage.count() < MANY
                ? RequeuePeriods.DEFAULT.deletion().byFew()
                : RequeuePeriods.DEFAULT.deletion().byMany()));
  }

  private boolean isForced(HasMetadata resource) {
    Map<String, String> annotations = resource.getMetadata().getAnnotations();
    return annotations != null && "true".equals(annotations.get(forceAnnotation));
  }
}
