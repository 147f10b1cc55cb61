package io.pmemcsi.operator.usage;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.operator.facts.Paging;
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
            found -> DriverUsage.of(driver, found, List.of(), List.of(), now));
    DriverUsage attachments =
        sum(
            driver,
            client.storage().v1().volumeAttachments()::list,
            found -> DriverUsage.of(driver, List.of(), found, List.of(), now));
    DriverUsage pods =
        sum(
            driver,
            client.pods().inAnyNamespace()::list,
            found -> DriverUsage.of(driver, List.of(), List.of(), found, now));
    return volumes.and(attachments).and(pods);
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
