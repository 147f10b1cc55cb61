package io.pmemcsi.driver.linux.mount;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Mount options as mount(2) takes them: some are flags, all others are text for the filesystem.
 *
 * @param flags those of mount(2)
 * @param data the options of the filesystem, separated by commas
 */
public record MountOptions(long flags, String data) {

  /** A bind mount. */
  static final MountOptions BIND = new MountOptions(4096, "");

  private static final long READ_ONLY = 1;
  private static final long NO_ATIME = 1L << 10;
  private static final long RELATIME = 1L << 21;
  private static final long STRICT_ATIME = 1L << 24;

  private static final String CONTEXT = "context=";

  /** Older kernels know one spelling, newer ones both. */
  private static final Set<String> DAX = Set.of("dax", "dax=always");

  /** The flags that the mount table shows whenever they are set. */
  private static final Set<String> SHOWN =
      Set.of(
          "nosuid", "nodev", "noexec", "sync", "dirsync", "nosymfollow", "nodiratime", "lazytime");

  private static final Map<String, Long> SET =
      Map.ofEntries(
          Map.entry("ro", READ_ONLY),
          Map.entry("nosuid", 2L),
          Map.entry("nodev", 4L),
          Map.entry("noexec", 8L),
          Map.entry("sync", 16L),
          Map.entry("dirsync", 128L),
          Map.entry("nosymfollow", 256L),
          Map.entry("noatime", NO_ATIME),
          Map.entry("nodiratime", 1L << 11),
          Map.entry("silent", 1L << 15),
          Map.entry("relatime", RELATIME),
          Map.entry("strictatime", STRICT_ATIME),
          Map.entry("lazytime", 1L << 25));

  private static final Map<String, Long> CLEAR =
      Map.ofEntries(
          Map.entry("rw", READ_ONLY),
          Map.entry("suid", 2L),
          Map.entry("dev", 4L),
          Map.entry("exec", 8L),
          Map.entry("async", 16L),
          Map.entry("symfollow", 256L),
          Map.entry("atime", NO_ATIME),
          Map.entry("diratime", 1L << 11),
          Map.entry("loud", 1L << 15),
          Map.entry("norelatime", RELATIME),
          Map.entry("nostrictatime", STRICT_ATIME),
          Map.entry("nolazytime", 1L << 25),
          // means "no option"
          Map.entry("defaults", 0L));

  /** Reads options as users write them; the last one counts where two contradict. */
  public static MountOptions of(List<String> options) {
    long flags = 0;
    List<String> data = new ArrayList<>();
    for (String option : options) {
      flags |= SET.getOrDefault(option, 0L);
      flags &= ~CLEAR.getOrDefault(option, 0L);
      if (!SET.containsKey(option) && !CLEAR.containsKey(option)) {
        data.add(option);
      }
    }
    return new MountOptions(flags, String.join(",", data));
  }

  /** Whether a user asks for DAX. */
  public static boolean asksForDax(List<String> options) {
    return options.stream().anyMatch(DAX::contains);
  }

  /** The other options of a user who asks for DAX. */
  public static List<String> withoutDax(List<String> options) {
    return options.stream().filter(option -> !DAX.contains(option)).toList();
  }

  /** The SELinux context for all files of a filesystem. */
  public static Optional<String> selinuxContext(Collection<String> options) {
    return options.stream()
        .filter(option -> option.startsWith(CONTEXT))
        .map(option -> option.substring(CONTEXT.length()).replace("\"", ""))
        .findFirst();
  }

  public boolean isReadOnly() {
    return (flags & READ_ONLY) != 0;
  }

  /**
   * What the mount table must show (true) or must not show (false) for a mount with these options,
   * apart from read-only. Options of filesystems are left out: whether and how they are shown
   * depends on the defaults of the filesystem.
   */
  public static Map<String, Boolean> shown(List<String> options) {
    long flags = of(options).flags();
    long named =
        options.stream()
            .mapToLong(option -> SET.getOrDefault(option, CLEAR.getOrDefault(option, 0L)))
            .reduce(0, (one, other) -> one | other);
    Map<String, Boolean> shown = new TreeMap<>();
    for (String word : SHOWN) {
      long bit = SET.getOrDefault(word, 0L);
      if ((named & bit) != 0) {
        shown.put(word, (flags & bit) != 0);
      }
    }
    // one of three; the table does not show strictatime
    if ((flags & STRICT_ATIME) != 0) {
      shown.put("noatime", false);
      shown.put("relatime", false);
    } else if ((named & NO_ATIME) != 0) {
      shown.put("noatime", (flags & NO_ATIME) != 0);
    } else if ((flags & RELATIME) != 0) {
      shown.put("relatime", true);
    }
    if (asksForDax(options)) {
      shown.put("dax", true);
    }
    return shown;
  }
}
