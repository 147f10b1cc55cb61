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

/** Reads long lists page by page, keeping only what the caller takes from each. */
public final class Paging {

  private static final long PAGE = 500;
  private static final int ATTEMPTS = 3;

  private Paging() {}

  /**
   * Goes through all objects that the server has at one moment.
   *
   * @param list reads one page
   * @param start makes the result for no object
   * @param add takes one page into the result
   */
  public static <T extends HasMetadata, R> R fold(
      Function<ListOptions, ? extends KubernetesResourceList<T>> list,
      Supplier<R> start,
      BiFunction<R, List<T>, R> add) {
    return fold(list, PAGE, start, add);
  }

  /**
   * The same with pages of another size.
   *
   * @param page how many objects are read at once
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
        // the server keeps the rest of a list for some minutes only: begin anew
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
