package io.pmemcsi.base.http;

import io.pmemcsi.base.version.Version;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The pages that every part of the program offers. */
public final class Pages {

  private static final PrometheusTextFormatWriter FORMAT =
      PrometheusTextFormatWriter.builder().setIncludeCreatedTimestamps(false).build();

  private Pages() {}

  /**
   * All metrics under the path, and {@code build_info} alone under {@code path/simple}: probes use
   * the latter, because collecting all may have to wait for slow storage commands.
   */
  public static Map<String, Page> metrics(String path, PrometheusRegistry registry) {
    return metrics(path, registry, List::of);
  }

  /** The same, with gauges that are read at each scrape. */
  public static Map<String, Page> metrics(
      String path, PrometheusRegistry registry, Supplier<List<GaugeFamily>> gauges) {
    PrometheusRegistry simple = new PrometheusRegistry();
    Version.register(simple);
    return Map.of(path, page(registry, gauges), path + "/simple", page(simple, List::of));
  }

  /** 200 while there is no problem, else 503 with the problem. */
  public static Page health(Supplier<Optional<String>> problem) {
    return () ->
        problem.get().map(text -> Answer.text(503, text)).orElseGet(() -> Answer.text(200, "ok"));
  }

  private static Page page(PrometheusRegistry registry, Supplier<List<GaugeFamily>> gauges) {
    return () -> {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      FORMAT.write(body, registry.scrape());
      String others = gauges.get().stream().map(GaugeFamily::text).collect(Collectors.joining());
      return new Answer(
          200, FORMAT.getContentType(), body.toString(StandardCharsets.UTF_8) + others);
    };
  }
}
