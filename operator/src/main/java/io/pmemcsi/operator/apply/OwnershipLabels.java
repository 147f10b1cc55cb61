package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How an object names its owner: an owner reference where Kubernetes allows one, and a label with
 * the owner's uid, by which watches select objects. An annotation with the owner's name maps the
 * object to its owner. The annotation alone is no proof of ownership: names are reused, and the
 * objects of a deleted resource may have been kept on purpose.
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

  /** Adds label, annotation and owner reference to an object before it is written. */
  void addTo(HasMetadata object, Owner owner) {
    var metadata = object.getMetadata();
    metadata.setLabels(with(metadata.getLabels(), uidLabel(), owner.uid()));
    metadata.setAnnotations(with(metadata.getAnnotations(), ownerAnnotation(), description(owner)));
    if (owner.mayOwn(object)) {
      metadata.setOwnerReferences(List.of(owner.reference()));
    }
  }

  /** Whether an object on the server belongs to this very owner. */
  public boolean isOwnedBy(HasMetadata object, Owner owner) {
    var metadata = object.getMetadata();
    boolean referenced =
        metadata.getOwnerReferences() != null
            && metadata.getOwnerReferences().stream()
                .anyMatch(reference -> reference.getUid().equals(owner.uid()));
    return referenced || ownerUid(object).filter(owner.uid()::equals).isPresent();
  }

  /** The uid in the label. */
  Optional<String> ownerUid(HasMetadata object) {
    return Optional.ofNullable(object.getMetadata().getLabels())
        .map(labels -> labels.get(uidLabel()));
  }

  /**
   * Whether a user copied this object from an owned one, labels included, for example with {@code
   * kubectl get -o yaml}: the field manager never wrote it.
   */
  static boolean isCopy(HasMetadata object, String fieldManager) {
    var writers = object.getMetadata().getManagedFields();
    return !writers.isEmpty()
        && writers.stream().noneMatch(writer -> fieldManager.equals(writer.getManager()));
  }

  private static String description(Owner owner) {
    return String.join("/", owner.kind(), owner.namespace(), owner.name());
  }

  /** Namespace (empty for none) and name of the owner of this kind, from the annotation. */
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
