package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.List;

/**
 * Everything that should exist for one resource.
 *
 * @param wanted in the order in which to write it
 * @param formerly what earlier releases made under names or kinds of their own, perhaps without the
 *     marks of this one: removed where the owner still owns it
 */
public record DesiredState(List<HasMetadata> wanted, List<HasMetadata> formerly) {

  public DesiredState {
    wanted = List.copyOf(wanted);
    formerly = List.copyOf(formerly);
    var seen = new ArrayList<ObjectRef>();
    for (HasMetadata object : wanted) {
      var ref = ObjectRef.of(object);
      if (seen.stream().anyMatch(ref::isSameObjectAs)) {
        throw new IllegalArgumentException(ref + " is wanted twice");
      }
      seen.add(ref);
    }
  }

  public static DesiredState of(List<HasMetadata> wanted) {
    return new DesiredState(wanted, List.of());
  }

  /** The same without looking for what earlier releases made. */
  public DesiredState withoutFormer() {
    return of(wanted);
  }

  boolean wants(HasMetadata object) {
    var ref = ObjectRef.of(object);
    return wanted.stream().map(ObjectRef::of).anyMatch(ref::isSameObjectAs);
  }
}
