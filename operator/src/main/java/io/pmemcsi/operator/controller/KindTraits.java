package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.operator.apply.LabelRetention;
import io.pmemcsi.operator.apply.OwnedKinds;
import java.util.List;
import java.util.Locale;

/**
 * What the skeleton, the tools and the operator's own RBAC need to know about a kind.
 *
 * @param fieldManager under which all objects are written
 * @param finalizers the first one is set; the others are used where a server refuses it
 * @param owned the kinds of objects that may be created, and their ownership labels
 * @param labelRetention what happens to labels that are no longer desired
 * @param subResourceMetrics whether there are metrics about each object
 */
public record KindTraits<R extends HasMetadata>(
    Class<R> type,
    String fieldManager,
    List<String> finalizers,
    OwnedKinds owned,
    LabelRetention labelRetention,
    boolean subResourceMetrics) {

  public KindTraits {
    finalizers = List.copyOf(finalizers);
  }

  public String kind() {
    return HasMetadata.getKind(type);
  }

  /** For users: kind, group and version. */
  public String title() {
    return kind() + " " + HasMetadata.getApiVersion(type);
  }

  /** Of the controller, in logs and metrics. */
  public String controllerName() {
    return kind().toLowerCase(Locale.ROOT);
  }
}
