package io.pmemcsi.operator.kinds.pmem;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The labels of the objects of one driver.
 *
 * @param extra labels of the user; they overwrite ours, except where a selector depends on them
 */
record PmemLabels(String driverName, Map<String, String> extra) {

  private static final String PREFIX = "app.kubernetes.io/";

  PmemLabels {
    extra = Collections.unmodifiableSortedMap(new TreeMap<>(extra));
  }

  /** Of an object that belongs to no single part. */
  Map<String, String> common() {
    var labels = new LinkedHashMap<String, String>();
    labels.put(PREFIX + "part-of", "pmem-csi");
    labels.put(PREFIX + "instance", driverName);
    labels.putAll(extra);
    return labels;
  }

  Map<String, String> of(Component part) {
    var labels = new LinkedHashMap<String, String>();
    labels.put(PREFIX + "name", "pmem-csi-" + part.label());
    labels.put(PREFIX + "part-of", "pmem-csi");
    labels.put(PREFIX + "component", part.label());
    labels.put(PREFIX + "instance", driverName);
    labels.putAll(extra);
    return labels;
  }

  /** Of the pods of a part: the webhook must never hold up the pods that answer it. */
  Map<String, String> ofPods(Component part) {
    var labels = new LinkedHashMap<>(of(part));
    labels.put("pmem-csi.intel.com/webhook", "ignore");
    labels.putAll(selector(part));
    return labels;
  }

  Map<String, String> selector(Component part) {
    var labels = new LinkedHashMap<String, String>();
    labels.put(PREFIX + "name", "pmem-csi-" + part.label());
    labels.put(PREFIX + "instance", driverName);
    return labels;
  }
}
