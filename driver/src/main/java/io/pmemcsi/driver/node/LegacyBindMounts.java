package io.pmemcsi.driver.node;

import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.MountOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Recognises bind mounts of earlier releases. Those changed the options by a remount, which does
 * not propagate: on the node the mount is writable, and so it is in the driver's container once
 * that is replaced. Kubelet publishes a volume again with the options that the pod has always had,
 * so a mount that lacks them and was not made by this process is such a mount.
 */
final class LegacyBindMounts {

  private final Set<Path> published = ConcurrentHashMap.newKeySet();

  /** This process has mounted a volume with all options. */
  void published(Path target) {
    published.add(target);
  }

  void unpublished(Path target) {
    published.remove(target);
  }

  /**
   * @param options those of one mount that a request asks for
   */
  boolean matches(MountEntry mount, List<String> options) {
    return !published.contains(mount.mountPoint()) && lacksAny(mount, options);
  }

  private static boolean lacksAny(MountEntry mount, List<String> options) {
    return (options.contains("ro") && !mount.isReadOnly())
        || MountOptions.shown(options).entrySet().stream()
            .anyMatch(option -> option.getValue() && !mount.has(option.getKey()));
  }
}
