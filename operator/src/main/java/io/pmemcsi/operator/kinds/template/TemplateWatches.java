package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.controller.ClusterReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What is watched beside the owned objects: resources that may need the same names. */
final class TemplateWatches {

  private static final String EXCLUSIVE_NAMES = "exclusive-names";

  private final List<OtherKind<?>> others;

  TemplateWatches(List<OtherKind<?>> others) {
    this.others = List.copyOf(others);
  }

  /**
   * Another kind of resource that deploys CSI drivers.
   *
   * @param driverName the name of the driver in a resource
   */
  record OtherKind<T extends HasMetadata>(Class<T> type, Function<T, Optional<String>> driverName) {

    private String source() {
      return "peers-" + HasMetadata.getSingular(type);
    }

    private List<T> with(String driver, ClusterReader<CSIDriverDeployment> cluster) {
      return cluster.watched(
          type, source(), resource -> driverName.apply(resource).equals(Optional.of(driver)));
    }

    /** The driver name of a resource hardly ever changes: it is its name or has a default. */
    private EventSource<?, CSIDriverDeployment> eventSource(
        EventSourceContext<CSIDriverDeployment> context) {
      return new InformerEventSource<>(
          InformerEventSourceConfiguration.from(type, CSIDriverDeployment.class)
              .withName(source())
              .withWatchAllNamespaces()
              .withOnUpdateFilter(
                  (now, before) -> !driverName.apply(now).equals(driverName.apply(before)))
              .withSecondaryToPrimaryMapper(resource -> concerned(resource, context))
              .build(),
          context);
    }

    private Set<ResourceID> concerned(T resource, EventSourceContext<CSIDriverDeployment> context) {
      return driverName.apply(resource).map(ExclusiveNames::driverKey).stream()
          .flatMap(key -> context.getPrimaryCache().byIndex(EXCLUSIVE_NAMES, key).stream())
          .map(ResourceID::fromResource)
          .collect(Collectors.toSet());
    }
  }

  List<EventSource<?, CSIDriverDeployment>> eventSources(
      EventSourceContext<CSIDriverDeployment> context) {
    context
        .getPrimaryCache()
        .addIndexer(
            EXCLUSIVE_NAMES,
            resource -> ExclusiveNames.of(resource, OperatorConfig.DEFAULT).keys());
    var sources = new ArrayList<EventSource<?, CSIDriverDeployment>>();
    others.forEach(other -> sources.add(other.eventSource(context)));
    return sources;
  }

  /** Resources of the same kind that may need a name that this one needs. */
  static List<CSIDriverDeployment> peers(
      ExclusiveNames names, ClusterReader<CSIDriverDeployment> cluster) {
    return cluster.peers(EXCLUSIVE_NAMES, names.keys());
  }

  /** Resources of other kinds with this driver name. */
  List<HasMetadata> sameDriver(String driver, ClusterReader<CSIDriverDeployment> cluster) {
    return others.stream()
        .<HasMetadata>flatMap(other -> other.with(driver, cluster).stream())
        .toList();
  }
}
