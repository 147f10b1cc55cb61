package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The names of the drivers of one resource.
 *
 * @param registered those of its CSIDrivers: two while one is being deleted, none if a user deleted
 *     it
 * @param onNodes the one that its DaemonSet runs
 */
record InstalledDrivers(SortedSet<String> registered, Optional<String> onNodes) {

  /**
   * From the objects of the resource.
   *
   * @param daemonSet has the name in the directory of the socket, even if there is no CSIDriver
   */
  static InstalledDrivers of(Collection<CSIDriver> drivers, Optional<DaemonSet> daemonSet) {
    return new InstalledDrivers(
        drivers.stream()
            .map(driver -> driver.getMetadata().getName())
            .collect(Collectors.toCollection(TreeSet::new)),
        daemonSet.flatMap(InstalledDrivers::socketDirectory));
  }

  private static Optional<String> socketDirectory(DaemonSet daemonSet) {
    return daemonSet.getSpec().getTemplate().getSpec().getVolumes().stream()
        .filter(volume -> volume.getName().equals(SidecarContainers.SOCKET_VOLUME))
        .map(Volume::getHostPath)
        .flatMap(path -> Optional.ofNullable(path).stream())
        .map(path -> path.getPath().substring(path.getPath().lastIndexOf('/') + 1))
        .findFirst();
  }

  /** The one that the pods on the nodes run, or the registered one. */
  Optional<String> current() {
    return onNodes.or(() -> registered.stream().findFirst());
  }

  /**
   * Those that end when the resource gets the desired one. Where there is a CSIDriver the directory
   * does not count: a user may have changed it, which is drift.
   */
  List<String> endingFor(String desired) {
    return (registered.isEmpty() ? onNodes.stream() : registered.stream())
        .filter(name -> !name.equals(desired))
        .toList();
  }

  /**
   * Those that end with the resource: also the one that it names itself, unless that belongs to
   * another owner.
   *
   * @param named in the resource
   * @param inCluster all CSIDrivers
   * @param uid of the resource
   */
  SortedSet<String> endingWith(
      @Nullable String named, Collection<CSIDriver> inCluster, String uid) {
    var result = new TreeSet<>(registered);
    onNodes.ifPresent(result::add);
    if (named != null) {
      result.add(named);
    }
    for (CSIDriver driver : inCluster) {
      String name = driver.getMetadata().getName();
      if (isOf(uid, driver)) {
        result.add(name);
      } else if (!registered.contains(name) && !onNodes.equals(Optional.of(name))) {
        result.remove(name);
      }
    }
    return result;
  }

  static boolean isOf(String uid, HasMetadata object) {
    Map<String, String> labels = object.getMetadata().getLabels();
    return labels != null && uid.equals(labels.get(TemplateKind.LABELS.uidLabel()));
  }
}
