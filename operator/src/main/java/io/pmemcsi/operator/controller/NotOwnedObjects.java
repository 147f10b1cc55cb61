package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.apply.OwnershipLabels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Objects in the way which were not made for a resource: whose they are, and what to do. */
public final class NotOwnedObjects {

  private static final List<String> ANNOTATIONS =
      Stream.of(PmemCSIDeployment.GROUP, CSIDriverDeployment.GROUP)
          .map(domain -> new OwnershipLabels(domain).ownerAnnotation())
          .toList();

  private NotOwnedObjects() {}

  /** Reads the objects once more, because only they say to whom they belong. */
  public static String describe(
      HasMetadata resource,
      List<ObjectRef> objects,
      DesiredState blueprint,
      KubernetesClient client) {
    String self = name(Owner.of(resource));
    return objects.stream()
        .map(object -> describe(self, object, find(object, blueprint, client)))
        .collect(Collectors.joining("\n"));
  }

  private static String describe(
      String self, ObjectRef object, Optional<? extends HasMetadata> found) {
    return found
        .flatMap(NotOwnedObjects::owner)
        .map(
            owner ->
                owner.equals(self)
                    ? "%s: exists, left by an earlier %s; remove it or choose another name"
                        .formatted(object, owner)
                    : "%s: belongs to %s: change or delete one of the two resources"
                        .formatted(object, owner))
        .orElseGet(
            () ->
                ("%s: exists, but was not made for this resource; remove it or choose another"
                        + " name")
                    .formatted(object));
  }

  /** Of another resource, or of an earlier one of the same name and kind that left it behind. */
  private static Optional<String> owner(HasMetadata object) {
    Map<String, String> annotations = object.getMetadata().getAnnotations();
    return annotations == null
        ? Optional.empty()
        : ANNOTATIONS.stream()
            .map(annotations::get)
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
      ObjectRef object, DesiredState blueprint, KubernetesClient client) {
    return blueprint.objects().stream()
        .filter(wanted -> ObjectRef.of(wanted).isSameObjectAs(object))
        .findFirst()
        .flatMap(wanted -> Optional.ofNullable(client.resource(wanted).get()));
  }
}
