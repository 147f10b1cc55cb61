package io.pmemcsi.driver.linux.mount;

import java.util.List;
import java.util.Map;

/**
 * Attributes of one mount, apart from its filesystem, as mount_setattr(2) takes them.
 *
 * @param set bits that the mount gets
 * @param clear bits that it loses before
 */
public record MountAttributes(long set, long clear) {

  private static final long RDONLY = 1;
  private static final long NOSUID = 2;
  private static final long NODEV = 4;
  private static final long NOEXEC = 8;

  /** How access times are kept is a number, not a bit: zero is the default, relatime. */
  private static final long ATIME = 0x70;

  private static final long NOATIME = 0x10;
  private static final long STRICTATIME = 0x20;
  private static final long NODIRATIME = 0x80;
  private static final long NOSYMFOLLOW = 0x200000;

  private static final Map<String, MountAttributes> OPTIONS =
      Map.ofEntries(
          Map.entry("ro", new MountAttributes(RDONLY, 0)),
          Map.entry("nosuid", new MountAttributes(NOSUID, 0)),
          Map.entry("suid", new MountAttributes(0, NOSUID)),
          Map.entry("nodev", new MountAttributes(NODEV, 0)),
          Map.entry("dev", new MountAttributes(0, NODEV)),
          Map.entry("noexec", new MountAttributes(NOEXEC, 0)),
          Map.entry("exec", new MountAttributes(0, NOEXEC)),
          Map.entry("noatime", new MountAttributes(NOATIME, ATIME)),
          Map.entry("strictatime", new MountAttributes(STRICTATIME, ATIME)),
          Map.entry("atime", new MountAttributes(0, ATIME)),
          Map.entry("relatime", new MountAttributes(0, ATIME)),
          Map.entry("norelatime", new MountAttributes(0, 0)),
          Map.entry("nodiratime", new MountAttributes(NODIRATIME, 0)),
          Map.entry("diratime", new MountAttributes(0, NODIRATIME)),
          Map.entry("nosymfollow", new MountAttributes(NOSYMFOLLOW, 0)));

  /** Those of mount options that belong to one mount, so that a bind mount can have its own. */
  public static List<String> perMountOptions(List<String> options) {
    return options.stream().filter(OPTIONS::containsKey).toList();
  }

  /** Reads options as users write them; the last one counts where two contradict. */
  static MountAttributes of(List<String> options) {
    long set = 0;
    long clear = 0;
    for (String option : perMountOptions(options)) {
      MountAttributes one = OPTIONS.getOrDefault(option, new MountAttributes(0, 0));
      set = (set & ~one.clear()) | one.set();
      clear |= one.clear();
    }
    return new MountAttributes(set, clear);
  }
}
