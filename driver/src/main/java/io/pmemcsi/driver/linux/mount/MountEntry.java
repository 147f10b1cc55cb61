package io.pmemcsi.driver.linux.mount;

import io.pmemcsi.driver.linux.block.DeviceNumber;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * A mount.
 *
 * @param number the device of the filesystem
 * @param root the directory of the filesystem that is mounted; not {@code /} for some bind mounts
 * @param mountPoint bytes of a name that is not text are written as octal numbers
 * @param options those of this mount
 * @param superOptions those of the filesystem, shared by all its mounts
 */
public record MountEntry(
    DeviceNumber number,
    String root,
    Path mountPoint,
    Set<String> options,
    String type,
    String source,
    Set<String> superOptions) {

  public MountEntry {
    options = Set.copyOf(options);
    superOptions = Set.copyOf(superOptions);
  }

  public boolean isReadOnly() {
    return options.contains("ro") || superOptions.contains("ro");
  }

  /** Whether files are mapped with DAX. */
  public boolean hasDax() {
    return superOptions.contains("dax") || superOptions.contains("dax=always");
  }

  /** The SELinux context that all files of the filesystem have, where it was mounted with one. */
  public Optional<String> selinuxContext() {
    return MountOptions.selinuxContext(superOptions);
  }

  /** Whether files have SELinux contexts of their own. */
  public boolean hasSelinuxLabels() {
    return superOptions.contains("seclabel");
  }

  /** Whether the table shows an option, of the mount or of its filesystem. */
  public boolean has(String option) {
    return switch (option) {
      // the table shows the newer spelling whichever was used
      case "dax", "dax=always" -> hasDax();
      default -> options.contains(option) || superOptions.contains(option);
    };
  }
}
