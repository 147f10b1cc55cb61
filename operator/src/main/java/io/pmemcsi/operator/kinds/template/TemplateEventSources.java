package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.apply.ApiCluster;
import io.pmemcsi.operator.apply.OwnedKinds;
import io.pmemcsi.operator.apply.OwnershipLabels;
import io.pmemcsi.operator.controller.RequeueSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What wakes the reconciler, and the caches that come with it. */
final class TemplateEventSources {

  static final OwnershipLabels MARKS = new OwnershipLabels(CSIDriverDeployment.GROUP);

  private static final String PMEM = "pmem-peers";
  private static final String CLAIMS = "claims";
  private static final String IN_CONFLICT = "in conflict";

  /** Of which an object may be made for a resource. */
  static final List<Class<? extends HasMetadata>> KINDS =
      List.of(
          CSIDriver.class,
          ServiceAccount.class,
          Role.class,
          RoleBinding.class,
          ClusterRole.class,
          ClusterRoleBinding.class,
          StorageClass.class,
          Deployment.class,
          DaemonSet.class);

  private final OwnedKinds owned = new OwnedKinds(KINDS, Set.of(), MARKS, true);
  private final RequeueSource<CSIDriverDeployment> wakeUps = new RequeueSource<>();
  private final Supplier<OperatorConfig> config;
  private volatile @Nullable IndexerResourceCache<CSIDriverDeployment> resources;

  TemplateEventSources(Supplier<OperatorConfig> config) {
    this.config = config;
  }

  OwnedKinds owned() {
    return owned;
  }

  List<EventSource<?, CSIDriverDeployment>> eventSources(
      EventSourceContext<CSIDriverDeployment> context) {
    resources = context.getPrimaryCache();
    wakeUps.know(context.getPrimaryCache());
    context.getPrimaryCache().addIndexer(CLAIMS, this::keys);
    var sources = new ArrayList<>(owned.eventSources(context));
    sources.add(pmem(context));
    sources.add(wakeUps);
    return sources;
  }

  /** Has a resource looked at, although nothing of it changed. */
  void wake(CSIDriverDeployment resource) {
    wakeUps.wake(resource);
  }

  /** Has a resource looked at that is there, whatever became of one of its name before. */
  void lookIfThere(ResourceID id) {
    wakeUps.lookIfThere(id);
  }

  /** Has every resource looked at. */
  void wakeAll() {
    IndexerResourceCache<CSIDriverDeployment> known = resources;
    if (known != null) {
      known.list(resource -> true).forEach(this::wake);
    }
  }

  /** Has those looked at that were told to wait for this one. */
  void wakeLosersOf(CSIDriverDeployment resource) {
    IndexerResourceCache<CSIDriverDeployment> known = resources;
    if (known != null) {
      String title = Conflicts.title(resource);
      known.byIndex(CLAIMS, IN_CONFLICT).stream()
          .filter(
              other ->
                  other
                      .getStatus()
                      .condition(DriverCondition.SYNC_SUCCESSFUL)
                      .filter(told -> String.valueOf(told.message()).contains(title))
                      .isPresent())
          .forEach(this::wake);
    }
  }

  static boolean isInConflict(CSIDriverDeployment resource) {
    return resource
        .getStatus()
        .condition(DriverCondition.SYNC_SUCCESSFUL)
        .filter(condition -> "Conflict".equals(condition.reason()))
        .isPresent();
  }

  ApiCluster<CSIDriverDeployment> cluster(Context<CSIDriverDeployment> context) {
    return new ApiCluster<>(context, owned);
  }

  /** From the caches of all objects that were made for any resource. */
  NameOwners holders(Context<CSIDriverDeployment> context) {
    return new NameOwners() {
      @Override
      public Optional<String> ofDriver(String name) {
        return holder(CSIDriver.class, name);
      }

      @Override
      public Optional<String> ofStorageClass(String name) {
        return holder(StorageClass.class, name);
      }

      private Optional<String> holder(Class<? extends HasMetadata> kind, String name) {
        return owned
            .find(kind, new ResourceID(name), context)
            .map(object -> object.getMetadata().getLabels().get(MARKS.uidLabel()));
      }
    };
  }

  private List<String> keys(CSIDriverDeployment resource) {
    var keys = new ArrayList<>(ExclusiveNames.of(resource, config.get()).keys());
    if (isInConflict(resource)) {
      keys.add(IN_CONFLICT);
    }
    return keys;
  }

  /** Resources that may want something that this one wants. */
  List<CSIDriverDeployment> rivals(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    Map<String, CSIDriverDeployment> found = new HashMap<>();
    for (String key : ExclusiveNames.of(resource, config.get()).keys()) {
      for (CSIDriverDeployment other : context.getPrimaryCache().byIndex(CLAIMS, key)) {
        found.put(other.getMetadata().getUid(), other);
      }
    }
    found.remove(resource.getMetadata().getUid());
    return List.copyOf(found.values());
  }

  static Optional<PmemCSIDeployment> pmem(String driverName, Context<CSIDriverDeployment> context) {
    var source =
        (InformerEventSource<PmemCSIDeployment, CSIDriverDeployment>)
            context.eventSourceRetriever().getEventSourceFor(PmemCSIDeployment.class, PMEM);
    return source.get(new ResourceID(driverName));
  }

  /** A PMEM-CSI driver is named after its resource. */
  private static EventSource<?, CSIDriverDeployment> pmem(
      EventSourceContext<CSIDriverDeployment> context) {
    return new InformerEventSource<>(
        InformerEventSourceConfiguration.from(PmemCSIDeployment.class, CSIDriverDeployment.class)
            .withName(PMEM)
            .withWatchAllNamespaces()
            .withOnUpdateFilter((now, before) -> false)
            .withSecondaryToPrimaryMapper(
                pmem ->
                    context
                        .getPrimaryCache()
                        .byIndex(CLAIMS, ExclusiveNames.driverKey(pmem.getMetadata().getName()))
                        .stream()
                        .map(ResourceID::fromResource)
                        .collect(Collectors.toSet()))
            .build(),
        context);
  }
}
