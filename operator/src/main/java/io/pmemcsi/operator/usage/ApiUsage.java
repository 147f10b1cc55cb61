package io.pmemcsi.operator.usage;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.pmemcsi.operator.facts.Paging;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

/**
 * Reads the usage from the API server, page by page: resources are deleted seldom, and caches of
 * all volumes and pods would cost memory all the time.
 */
public final class ApiUsage implements UsageReader {

  private static final long PAGE = 500;

  private static final ResourceDefinitionContext SNAPSHOTS =
      new ResourceDefinitionContext.Builder()
          .withGroup("snapshot.storage.k8s.io")
          .withVersion("v1")
          .withKind("VolumeSnapshotContent")
          .withPlural("volumesnapshotcontents")
          .withNamespaced(false)
          .build();

  private final KubernetesClient client;
  private final long page;
  private final Clock clock;

  public ApiUsage(KubernetesClient client, Clock clock) {
    this(client, clock, PAGE);
  }

  /**
   * With another page size.
   *
   * @param page how many objects are read per request
   */
  public ApiUsage(KubernetesClient client, Clock clock, long page) {
    this.client = client;
    this.clock = clock;
    this.page = page;
  }

  @Override
  public DriverUsage read(String driver) {
    Instant now = clock.instant();
    DriverUsage volumes =
        sum(
            driver,
            client.persistentVolumes()::list,
            found -> DriverUsage.of(driver, found, List.of(), List.of(), List.of(), now));
    DriverUsage attachments =
        sum(
            driver,
            client.storage().v1().volumeAttachments()::list,
            found -> DriverUsage.of(driver, List.of(), found, List.of(), List.of(), now));
    DriverUsage pods =
        sum(
            driver,
            client.pods().inAnyNamespace()::list,
            found -> DriverUsage.of(driver, List.of(), List.of(), found, List.of(), now));
    return volumes.and(attachments).and(pods).and(snapshots(driver, now));
  }

  /** None where the server does not have the API. */
  private DriverUsage snapshots(String driver, Instant now) {
    try {
      return sum(
          driver,
          client.genericKubernetesResources(SNAPSHOTS)::list,
          found -> DriverUsage.of(driver, List.of(), List.of(), List.of(), found, now));
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return DriverUsage.none(driver);
      }
      throw e;
    }
  }

  private <T extends HasMetadata> DriverUsage sum(
      String driver,
      Function<ListOptions, ? extends KubernetesResourceList<T>> list,
      Function<List<T>, DriverUsage> count) {
    return Paging.fold(
        list,
        page,
        () -> DriverUsage.none(driver),
        (total, found) -> total.and(count.apply(found)));
  }
}
