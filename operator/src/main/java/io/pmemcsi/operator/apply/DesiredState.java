package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.List;

/**
 * The objects that must exist for one resource.
 *
 * @param objects in the order in which users read them; {@code Stage} decides the order of writes
 * @param legacyObjects what earlier releases created under other names or kinds, perhaps without
 *     ownership labels: deleted where the owner still owns it
 */
public record DesiredState(List<HasMetadata> objects, List<HasMetadata> legacyObjects) {

  public DesiredState {
    objects = List.copyOf(objects);
    legacyObjects = List.copyOf(legacyObjects);
    var seen = new ArrayList<ObjectRef>();
    for (HasMetadata object : objects) {
      var ref = ObjectRef.of(object);
      if (seen.stream().anyMatch(ref::isSameObjectAs)) {
        throw new IllegalArgumentException(ref + " is desired twice");
      }
      seen.add(ref);
    }
  }

  public static DesiredState of(List<HasMetadata> objects) {
    return new DesiredState(objects, List.of());
  }

  /** The same objects, without a search for those of earlier releases. */
  public DesiredState withoutLegacyObjects() {
    return of(objects);
  }

  boolean contains(HasMetadata object) {
    var ref = ObjectRef.of(object);
    return objects.stream().map(ObjectRef::of).anyMatch(ref::isSameObjectAs);
  }
}
