package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.apply.OwnershipLabels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Describes objects of desired names that were not created for the resource.
 *
 * @param everyKind the ownership labels of every kind, by which the owner is found
 */
record NotOwnedObjects(List<OwnershipLabels> everyKind) {

  /** Reads the objects once more: only they show their owner. */
  String describe(
      HasMetadata resource,
      List<ObjectRef> objects,
      DesiredState desired,
      KubernetesClient client) {
    String self = name(Owner.of(resource));
    return objects.stream()
        .map(object -> describe(self, object, find(object, desired, client)))
        .collect(Collectors.joining("\n"));
  }

  private String describe(String self, ObjectRef object, Optional<? extends HasMetadata> found) {
    return found
        .flatMap(this::owner)
        .map(
            owner ->
                owner.equals(self)
                    ? "%s: exists, left by an earlier %s; remove it or choose another name"
                        .formatted(object, owner)
                    : "%s: belongs to %s: change or delete one of the two resources"
                        .formatted(object, owner))
        .orElseGet(
            () ->
                ("%s: exists, but was not created for this resource; remove it or choose another"
                        + " name")
                    .formatted(object));
  }

  /** Of another resource, or of a deleted one of the same name and kind. */
  private Optional<String> owner(HasMetadata object) {
    Map<String, String> annotations = object.getMetadata().getAnnotations();
    return annotations == null
        ? Optional.empty()
        : everyKind.stream()
            .map(labels -> annotations.get(labels.ownerAnnotation()))
            .filter(Objects::nonNull)
            .map(text -> text.split("/", -1))
            .filter(parts -> parts.length == 3)
            .map(parts -> name(parts[0], parts[1], parts[2]))
            .findFirst();
  }

  private static String name(Owner owner) {
    return name(owner.kind(), owner.namespace(), owner.name());
  }

  private static String name(String kind, String namespace, String name) {
    return "%s \"%s\"%s"
        .formatted(
            kind, name, namespace.isEmpty() ? "" : " in namespace \"%s\"".formatted(namespace));
  }

  private static Optional<HasMetadata> find(
      ObjectRef object, DesiredState desired, KubernetesClient client) {
    return desired.objects().stream()
        .filter(one -> ObjectRef.of(one).isSameObjectAs(object))
        .findFirst()
        .flatMap(one -> Optional.ofNullable(client.resource(one).get()));
  }
}
