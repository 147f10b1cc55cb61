package io.pmemcsi.app.convert;

import io.pmemcsi.app.settings.NodeSelector;
import io.pmemcsi.base.names.DriverName;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How the labels of a node change once its memory is ready: it no longer requests the conversion,
 * and is one of those that run the driver.
 */
record Relabelling(DriverName driver, NodeSelector selector) {

  /** The body of a JSON merge patch, in which null removes. */
  Map<String, Object> patch() {
    Map<String, @Nullable String> labels = new TreeMap<>(selector.labels());
    labels.put(driver.convertLabel(), null);
    return Map.of("metadata", Map.of("labels", Collections.unmodifiableMap(labels)));
  }
}
