package io.pmemcsi.operator.apply.ssa;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Optional;

/**
 * A field manager of server-side apply: what it owns in an object, according to {@code
 * metadata.managedFields}.
 *
 * @param name under which the operator writes
 */
public record FieldManager(String name, KubernetesSerialization serialization) {

  /** Whether applying the desired object would change nothing. */
  public boolean matches(HasMetadata actual, HasMetadata desired) {
    return new OwnedFields(name, serialization).match(actual, desired)
        && foreignFields(actual, desired).isEmpty();
  }

  /** JSON pointers to fields of other managers that must be unset but that an apply keeps. */
  public List<String> foreignFields(HasMetadata actual, HasMetadata desired) {
    return ForeignFields.of(actual, desired, serialization);
  }

  /** The object without its foreign fields. */
  public HasMetadata withoutForeignFields(HasMetadata actual, HasMetadata desired) {
    return ForeignFields.removedFrom(actual, desired, serialization);
  }

  /** Names of the managers whose values an apply would overwrite. */
  public List<String> conflictingManagers(HasMetadata actual, HasMetadata desired) {
    return new ConflictingManagers(name, serialization).of(actual, desired);
  }

  /** The managedFields with which earlier updates count as applied; empty if they already do. */
  public Optional<List<ManagedFieldsEntry>> migratedFields(HasMetadata actual) {
    return new FieldOwnershipMigration(name).of(actual);
  }

  /** Adds the labels that this manager set earlier, so that an apply keeps them. */
  public void retainLabels(HasMetadata actual, HasMetadata desired) {
    new RetainedLabels(name).addTo(desired, actual);
  }

  /** Sets the defaults that are part of list keys. */
  public static void setKeyDefaults(HasMetadata desired) {
    PortProtocols.setDefaults(desired);
  }
}
