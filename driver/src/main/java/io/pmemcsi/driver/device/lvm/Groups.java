package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.lvm.LvmReport.Group;
import io.pmemcsi.driver.device.lvm.LvmReport.Volume;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The volume groups in use at one moment, and what they are after a change.
 *
 * @param unreadable the names of those that should exist and that LVM cannot read
 */
record Groups(List<Group> all, List<String> unreadable) {
  Groups {
    all = List.copyOf(all);
    unreadable = List.copyOf(unreadable);
  }

  /** Whether a volume that is not here exists nowhere. */
  boolean isComplete() {
    return unreadable.isEmpty();
  }

  /** A volume with the group that it is in. */
  record Place(Group group, Volume volume) {}

  Optional<Place> find(String volume) {
    return all.stream()
        .flatMap(group -> group.volumes().stream().map(v -> new Place(group, v)))
        .filter(place -> place.volume().name().equals(volume))
        .findFirst();
  }

  /** Where a new volume fits, in order. */
  List<Group> fitting(long bytes, Predicate<Group> allowed) {
    return all.stream()
        .filter(allowed)
        .filter(group -> bytes <= group.freeBytes())
        .filter(group -> roundUp(bytes, group.extentBytes()) <= group.freeBytes())
        .toList();
  }

  Capacity capacity(long totalBytes) {
    Capacity sum = all.stream().map(Groups::capacity).reduce(Capacity.NONE, Capacity::plus);
    return new Capacity(sum.maxVolumeSize(), sum.available(), sum.managed(), totalBytes);
  }

  static Capacity capacity(Group group) {
    return new Capacity(group.freeBytes(), group.freeBytes(), group.sizeBytes(), group.sizeBytes());
  }

  Groups with(Group changed, Volume added) {
    return replace(
        changed,
        changed.freeBytes() - added.sizeBytes(),
        Stream.concat(changed.volumes().stream(), Stream.of(added)).toList());
  }

  Groups without(Place removed) {
    Group group = removed.group();
    List<Volume> rest = new ArrayList<>(group.volumes());
    rest.remove(removed.volume());
    return replace(group, group.freeBytes() + removed.volume().sizeBytes(), rest);
  }

  Groups resized(Place place, long sizeBytes) {
    Group group = place.group();
    Volume old = place.volume();
    return replace(
        group,
        group.freeBytes() - (sizeBytes - old.sizeBytes()),
        group.volumes().stream()
            .map(volume -> volume.equals(old) ? old.withSize(sizeBytes) : volume)
            .toList());
  }

  /** Whole extents, at least one. */
  static long roundUp(long bytes, long extent) {
    return Math.max(1, Math.ceilDiv(bytes, extent)) * extent;
  }

  private Groups replace(Group old, long free, List<Volume> volumes) {
    Group changed = new Group(old.name(), old.sizeBytes(), free, old.extentBytes(), volumes);
    return new Groups(
        all.stream().map(group -> group.name().equals(old.name()) ? changed : group).toList(),
        unreadable);
  }
}
