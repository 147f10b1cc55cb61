package io.pmemcsi.operator.pmemdriver;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The labels of the objects of one driver.
 *
 * @param extra labels of the user; they overwrite the others, except where a selector depends on
 *     them
 */
public record PmemLabels(String driverName, Map<String, String> extra) {

  private static final String PREFIX = "app.kubernetes.io/";

  public PmemLabels {
    extra = Collections.unmodifiableSortedMap(new TreeMap<>(extra));
  }

  /** Of an object that belongs to no single component. */
  public Map<String, String> common() {
    var labels = new LinkedHashMap<String, String>();
    labels.put(PREFIX + "part-of", "pmem-csi");
    labels.put(PREFIX + "instance", driverName);
    labels.putAll(extra);
    return labels;
  }

  public Map<String, String> of(Component component) {
    var labels = new LinkedHashMap<String, String>();
    labels.put(PREFIX + "name", "pmem-csi-" + component.label());
    labels.put(PREFIX + "part-of", "pmem-csi");
    labels.put(PREFIX + "component", component.label());
    labels.put(PREFIX + "instance", driverName);
    labels.putAll(extra);
    return labels;
  }

  /** Of the pods of a component: the webhook must never block the pods that serve it. */
  public Map<String, String> ofPods(Component component) {
    var labels = new LinkedHashMap<>(of(component));
    labels.put("pmem-csi.intel.com/webhook", "ignore");
    labels.putAll(selector(component));
    return labels;
  }

  public Map<String, String> selector(Component component) {
    var labels = new LinkedHashMap<String, String>();
    labels.put(PREFIX + "name", "pmem-csi-" + component.label());
    labels.put(PREFIX + "instance", driverName);
    return labels;
  }
}
