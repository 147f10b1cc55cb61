package io.pmemcsi.operator.guard;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.operator.facts.Paging;
import java.util.List;
import java.util.function.Function;

/**
 * Asks the API server, page by page: resources are deleted seldom, and a cache of all volumes and
 * pods would cost memory all the time.
 */
public final class ApiUsage implements UsageReader {

  private static final long PAGE = 500;
  private static final String NOT_FINISHED = "status.phase!=Succeeded,status.phase!=Failed";

  private final KubernetesClient client;
  private final long page;

  public ApiUsage(KubernetesClient client) {
    this(client, PAGE);
  }

  /**
   * With pages of another size.
   *
   * @param page how many objects are read at once
   */
  public ApiUsage(KubernetesClient client, long page) {
    this.client = client;
    this.page = page;
  }

  @Override
  public DriverUsage read(String driver) {
    DriverUsage volumes =
        sum(
            driver,
            "",
            client.persistentVolumes()::list,
            found -> DriverUsage.of(driver, found, List.of(), List.of()));
    DriverUsage attachments =
        sum(
            driver,
            "",
            client.storage().v1().volumeAttachments()::list,
            found -> DriverUsage.of(driver, List.of(), found, List.of()));
    DriverUsage pods =
        sum(
            driver,
            NOT_FINISHED,
            client.pods().inAnyNamespace()::list,
            found -> DriverUsage.of(driver, List.of(), List.of(), found));
    return volumes.and(attachments).and(pods);
  }

  private <T extends HasMetadata> DriverUsage sum(
      String driver,
      String fields,
      Function<ListOptions, ? extends KubernetesResourceList<T>> list,
      Function<List<T>, DriverUsage> count) {
    return Paging.fold(
        list,
        fields,
        page,
        () -> DriverUsage.none(driver),
        (total, found) -> total.and(count.apply(found)));
  }
}
