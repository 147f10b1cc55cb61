package io.pmemcsi.base.version;

import io.prometheus.metrics.core.metrics.Info;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The version that the build wrote into this program. */
public final class Version {

  private static final String CURRENT = read();

  private Version() {}

  public static String current() {
    return CURRENT;
  }

  /** Adds {@code build_info}, which is 1 and carries the version as a label. */
  public static void register(PrometheusRegistry registry) {
    Info.builder()
        .name("build_info")
        .help("A metric with a constant value of 1, labelled by the version of the program.")
        .labelNames("version")
        .register(registry)
        .addLabelValues(CURRENT);
  }

  private static String read() {
    try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
      if (in == null) {
        throw new IllegalStateException("version.properties is missing: build with Maven");
      }
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("version", "unknown");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
