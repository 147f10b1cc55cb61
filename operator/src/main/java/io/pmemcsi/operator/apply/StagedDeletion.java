package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.pmemcsi.operator.apply.ssa.PodTemplates;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Deletes objects in the reverse order of {@link Stage}. */
final class StagedDeletion {

  private static final List<String> FOREGROUND = List.of("foregroundDeletion");
  private static final Duration DEFAULT_GRACE_PERIOD = Duration.ofSeconds(30);
  private static final Duration KUBELET_DELAY = Duration.ofSeconds(30);

  private final Cluster cluster;
  private final Clock clock;
  private final List<ObjectRef> deleted = new ArrayList<>();
  private final List<ObjectRef> pending = new ArrayList<>();

  private StagedDeletion(Cluster cluster, Clock clock) {
    this.cluster = cluster;
    this.clock = clock;
  }

  /**
   * What was done.
   *
   * @param deleted what the server was asked to delete
   * @param pending what still exists
   */
  record Result(List<ObjectRef> deleted, List<ObjectRef> pending) {}

  /** Deletes objects that are no longer desired, without waiting for pods. */
  static Result prune(List<HasMetadata> objects, Cluster cluster, Clock clock) {
    var deletion = new StagedDeletion(cluster, clock);
    stages(objects).forEach(stage -> deletion.delete(stage, DeletionPropagation.BACKGROUND));
    return deletion.result();
  }

  /**
   * Deletes all objects of an owner. Pods use their account and its permissions until they end, so
   * the objects of a stage stay until those of the stage before no longer exist.
   */
  static Result remove(List<HasMetadata> objects, Cluster cluster, Clock clock) {
    var deletion = new StagedDeletion(cluster, clock);
    for (List<HasMetadata> stage : stages(objects)) {
      boolean workloads = stage.stream().anyMatch(object -> Stage.of(object) == Stage.WORKLOADS);
      deletion.delete(
          stage, workloads ? DeletionPropagation.FOREGROUND : DeletionPropagation.BACKGROUND);
      if (!deletion.pending.isEmpty()) {
        break;
      }
    }
    return deletion.result();
  }

  private static List<List<HasMetadata>> stages(List<HasMetadata> objects) {
    return Stage.inOrder(objects, Function.identity()).reversed();
  }

  private Result result() {
    return new Result(deleted, pending);
  }

  private void delete(List<HasMetadata> objects, DeletionPropagation propagation) {
    objects.stream()
        .filter(StagedDeletion::isTerminating)
        .filter(this::isAwaited)
        .map(ObjectRef::of)
        .forEach(pending::add);
    List<HasMetadata> existing = objects.stream().filter(object -> !isTerminating(object)).toList();
    List<Boolean> results =
        cluster.sendAll(existing, object -> cluster.delete(object, propagation));
    for (int i = 0; i < existing.size(); i++) {
      deleted.add(ObjectRef.of(existing.get(i)));
      if (!results.get(i)) {
        pending.add(ObjectRef.of(existing.get(i)));
      }
    }
  }

  static boolean isTerminating(HasMetadata object) {
    return object.getMetadata().getDeletionTimestamp() != null;
  }

  /**
   * A workload that is deleted in the foreground exists until its pods are deleted. If a kubelet
   * does not answer that may be never: after their grace period pods are not waited for.
   */
  private boolean isAwaited(HasMetadata object) {
    if (!FOREGROUND.equals(object.getMetadata().getFinalizers())) {
      return true;
    }
    Duration gracePeriod =
        PodTemplates.of(object)
            .map(PodTemplateSpec::getSpec)
            .map(PodSpec::getTerminationGracePeriodSeconds)
            .map(Duration::ofSeconds)
            .orElse(DEFAULT_GRACE_PERIOD);
    return clock
        .instant()
        .isBefore(
            Instant.parse(object.getMetadata().getDeletionTimestamp())
                .plus(gracePeriod)
                .plus(KUBELET_DELAY));
  }
}
