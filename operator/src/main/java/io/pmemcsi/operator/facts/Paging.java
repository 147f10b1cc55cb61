package io.pmemcsi.operator.facts;

import static java.net.HttpURLConnection.HTTP_GONE;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;

/** Lists objects page by page, and keeps only what the caller takes from each page. */
public final class Paging {

  private static final long PAGE = 500;
  private static final int ATTEMPTS = 3;

  private Paging() {}

  /**
   * Folds all objects of a consistent list.
   *
   * @param list reads one page
   * @param start creates the result for no object
   * @param add adds one page to the result
   */
  public static <T extends HasMetadata, R> R fold(
      Function<ListOptions, ? extends KubernetesResourceList<T>> list,
      Supplier<R> start,
      BiFunction<R, List<T>, R> add) {
    return fold(list, PAGE, start, add);
  }

  /**
   * The same with another page size.
   *
   * @param page how many objects are read per request
   */
  public static <T extends HasMetadata, R> R fold(
      Function<ListOptions, ? extends KubernetesResourceList<T>> list,
      long page,
      Supplier<R> start,
      BiFunction<R, List<T>, R> add) {
    for (int attempt = 1; ; attempt++) {
      try {
        return once(list, page, start.get(), add);
      } catch (KubernetesClientException e) {
        // continue tokens expire after some minutes: start again
        if (e.getCode() != HTTP_GONE || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private static <T extends HasMetadata, R> R once(
      Function<ListOptions, ? extends KubernetesResourceList<T>> list,
      long page,
      R start,
      BiFunction<R, List<T>, R> add) {
    R result = start;
    String next = "";
    do {
      var options = new ListOptionsBuilder().withLimit(page);
      if (!next.isEmpty()) {
        options.withContinue(next);
      }
      KubernetesResourceList<T> found = list.apply(options.build());
      result = add.apply(result, found.getItems());
      String more = found.getMetadata().getContinue();
      next = more == null ? "" : more;
    } while (!next.isEmpty());
    return result;
  }
}
