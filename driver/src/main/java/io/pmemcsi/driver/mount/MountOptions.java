package io.pmemcsi.driver.mount;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Mount options as the kernel wants them: some are bits, all others are text for the filesystem.
 *
 * @param flags the bits of mount(2)
 * @param data the options of the filesystem, separated by commas
 */
public record MountOptions(long flags, String data) {

  /** Shows a part of the tree at another place. */
  static final MountOptions BIND = new MountOptions(4096, "");

  private static final Map<String, Long> SET =
      Map.ofEntries(
          Map.entry("ro", 1L),
          Map.entry("nosuid", 2L),
          Map.entry("nodev", 4L),
          Map.entry("noexec", 8L),
          Map.entry("sync", 16L),
          Map.entry("dirsync", 128L),
          Map.entry("nosymfollow", 256L),
          Map.entry("noatime", 1L << 10),
          Map.entry("nodiratime", 1L << 11),
          Map.entry("silent", 1L << 15),
          Map.entry("relatime", 1L << 21),
          Map.entry("strictatime", 1L << 24),
          Map.entry("lazytime", 1L << 25));

  private static final Map<String, Long> CLEAR =
      Map.ofEntries(
          Map.entry("rw", 1L),
          Map.entry("suid", 2L),
          Map.entry("dev", 4L),
          Map.entry("exec", 8L),
          Map.entry("async", 16L),
          Map.entry("symfollow", 256L),
          Map.entry("atime", 1L << 10),
          Map.entry("diratime", 1L << 11),
          Map.entry("loud", 1L << 15),
          Map.entry("norelatime", 1L << 21),
          Map.entry("nostrictatime", 1L << 24),
          Map.entry("nolazytime", 1L << 25),
          // nothing but a word for "no option"
          Map.entry("defaults", 0L));

  /** Reads options as people write them; the last word counts where two contradict. */
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
}
