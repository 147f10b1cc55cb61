package io.pmemcsi.operator.metrics;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * When the objects of each resource were created and updated. Both times come from the objects, so
 * that they are correct after a restart.
 */
final class SubResources {

  private static final String PREFIX = "pmem_csi_deployment_sub_resource_";

  /** What is kept of an object, to save memory. */
  private record Sample(Labels labels, Instant created, Optional<Instant> updated) {}

  private final String fieldManager;
  private final Map<Identity, List<Sample>> samples = new ConcurrentHashMap<>();

  /**
   * Registers both metrics.
   *
   * @param fieldManager whose updates count
   */
  SubResources(PrometheusRegistry registry, String fieldManager) {
    this.fieldManager = fieldManager;
    registry.register(
        () ->
            family(
                "created_at",
                "Unix time at which an object of a resource was created.",
                sample -> Optional.of(sample.created())));
    registry.register(
        () ->
            family(
                "updated_at",
                "Unix time at which the operator last updated an object of a resource.",
                Sample::updated));
  }

  void set(Identity resource, List<HasMetadata> objects) {
    samples.put(
        resource,
        objects.stream()
            .filter(object -> object.getMetadata().getCreationTimestamp() != null)
            .map(this::sample)
            .toList());
  }

  void forget(Predicate<Identity> resources) {
    samples.keySet().removeIf(resources);
  }

  private Sample sample(HasMetadata object) {
    return new Sample(
        labels(object),
        Instant.parse(object.getMetadata().getCreationTimestamp()),
        object.getMetadata().getManagedFields().stream()
            .filter(entry -> fieldManager.equals(entry.getManager()))
            .map(ManagedFieldsEntry::getTime)
            // null for an apply that changed nothing
            .filter(Objects::nonNull)
            .map(Instant::parse)
            .max(Instant::compareTo));
  }

  private static Labels labels(HasMetadata object) {
    var metadata = object.getMetadata();
    String[] api = object.getApiVersion().split("/", 2);
    return Labels.of(
        new String[] {"group", "kind", "name", "namespace", "ownedBy", "uid", "version"},
        new String[] {
          api.length == 2 ? api[0] : "",
          object.getKind(),
          metadata.getName(),
          text(metadata.getNamespace()),
          metadata.getOwnerReferences().stream()
              .map(OwnerReference::getUid)
              .collect(Collectors.joining(",")),
          text(metadata.getUid()),
          api[api.length - 1]
        });
  }

  private GaugeSnapshot family(String name, String help, Function<Sample, Optional<Instant>> time) {
    var family = GaugeSnapshot.builder().name(PREFIX + name).help(help);
    samples.values().stream()
        .flatMap(List::stream)
        .forEach(
            sample ->
                time.apply(sample)
                    .ifPresent(
                        at ->
                            family.dataPoint(
                                GaugeDataPointSnapshot.builder()
                                    .labels(sample.labels())
                                    .value((double) at.getEpochSecond())
                                    .build())));
    return family.build();
  }

  private static String text(@Nullable String value) {
    return value == null ? "" : value;
  }
}
