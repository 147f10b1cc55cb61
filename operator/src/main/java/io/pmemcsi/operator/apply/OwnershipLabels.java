package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How an object shows whose it is: an owner reference where Kubernetes allows one, and a label with
 * the owner's uid (which also selects what is watched). An annotation with the owner's name leads
 * from the object to its owner; it is no mark by itself, because a name can be used again, and the
 * objects of an earlier resource may have been left for somebody else.
 *
 * @param domain prefix of the label and the annotation, for example {@code pmem-csi.intel.com}
 */
public record OwnershipLabels(String domain) {

  /** The label with the owner's uid. */
  public String uidLabel() {
    return domain + "/owner-uid";
  }

  /** The annotation with the owner's kind, namespace and name. */
  public String ownerAnnotation() {
    return domain + "/owner";
  }

  /** Adds the marks to an object that is about to be written. */
  void put(HasMetadata object, Owner owner) {
    var metadata = object.getMetadata();
    metadata.setLabels(with(metadata.getLabels(), uidLabel(), owner.uid()));
    metadata.setAnnotations(with(metadata.getAnnotations(), ownerAnnotation(), description(owner)));
    if (owner.mayOwn(object)) {
      metadata.setOwnerReferences(List.of(owner.reference()));
    }
  }

  /** Whether an object on the server was made for this very owner. */
  public boolean on(HasMetadata object, Owner owner) {
    var metadata = object.getMetadata();
    boolean referenced =
        metadata.getOwnerReferences() != null
            && metadata.getOwnerReferences().stream()
                .anyMatch(reference -> reference.getUid().equals(owner.uid()));
    boolean labelled =
        metadata.getLabels() != null && owner.uid().equals(metadata.getLabels().get(uidLabel()));
    return referenced || labelled;
  }

  /**
   * Whether somebody else made this object from one of ours, marks included, as people do with
   * {@code kubectl get -o yaml} to get a second one: we have never written it.
   */
  static boolean isCopy(HasMetadata object, String fieldManager) {
    var writers = object.getMetadata().getManagedFields();
    return !writers.isEmpty()
        && writers.stream().noneMatch(writer -> fieldManager.equals(writer.getManager()));
  }

  private static String description(Owner owner) {
    return String.join("/", owner.kind(), owner.namespace(), owner.name());
  }

  /** Namespace (empty for none) and name of the owner of this kind, as an object says it. */
  Optional<List<String>> ownerOf(HasMetadata object, String kind) {
    var annotations = object.getMetadata().getAnnotations();
    String owner = annotations == null ? null : annotations.get(ownerAnnotation());
    if (owner == null) {
      return Optional.empty();
    }
    String[] parts = owner.split("/", -1);
    return parts.length == 3 && parts[0].equals(kind)
        ? Optional.of(List.of(parts[1], parts[2]))
        : Optional.empty();
  }

  private static Map<String, String> with(Map<String, String> map, String key, String value) {
    Map<String, String> result = map == null ? new LinkedHashMap<>() : new LinkedHashMap<>(map);
    result.put(key, value);
    return result;
  }
}
