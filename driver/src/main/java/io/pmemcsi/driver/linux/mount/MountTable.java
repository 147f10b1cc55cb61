package io.pmemcsi.driver.linux.mount;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.device.BlockDevices;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** What is mounted where at one moment, in the order in which it was mounted. */
public record MountTable(List<MountEntry> entries) {

  private static final Path KERNEL = Path.of("/proc/self/mountinfo");

  public MountTable {
    entries = List.copyOf(entries);
  }

  /** Asks the kernel. */
  public static MountTable read() {
    try {
      return parse(Files.readString(KERNEL, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read %s: %s".formatted(KERNEL, Reason.of(e)), e);
    }
  }

  /** Understands the format of /proc/self/mountinfo. */
  public static MountTable parse(String text) {
    return new MountTable(
        text.lines().filter(line -> !line.isBlank()).map(MountTable::parseLine).toList());
  }

  /** What is mounted at a path: the last one counts, it hides the others. */
  public Optional<MountEntry> at(Path path) {
    return entries.reversed().stream().filter(entry -> entry.mountPoint().equals(path)).findFirst();
  }

  /** All mounts of the filesystem on a device, and all bind mounts of its node. */
  public List<MountEntry> of(String number) {
    List<MountEntry> found = new ArrayList<>();
    for (MountEntry entry : entries) {
      if (entry.number().equals(number) || isNodeMount(entry, number)) {
        found.add(entry);
      }
    }
    return found;
  }

  private static boolean isNodeMount(MountEntry entry, String number) {
    // a device node that is mounted onto a file shows as a part of the filesystem that /dev is
    boolean mayBeNode = !entry.root().equals("/") && entry.type().endsWith("tmpfs");
    return mayBeNode && BlockDevices.isNodeOf(entry.mountPoint(), number);
  }

  private static MountEntry parseLine(String line) {
    int dash = line.indexOf(" - ");
    String[] left = dash < 0 ? new String[0] : line.substring(0, dash).split(" ", -1);
    String[] right = dash < 0 ? new String[0] : line.substring(dash + 3).split(" ", -1);
    if (left.length < 6 || right.length < 3) {
      throw new IllegalArgumentException("not a line of a mount table: " + line);
    }
    return new MountEntry(
        left[2],
        unescape(left[3]),
        Path.of(unescape(left[4])),
        options(left[5]),
        right[0],
        unescape(right[1]),
        options(right[2]));
  }

  private static Set<String> options(String text) {
    return Arrays.stream(text.split(",")).collect(Collectors.toUnmodifiableSet());
  }

  /** The kernel writes blanks, tabs, line ends and backslashes as three octal digits. */
  private static String unescape(String text) {
    if (text.indexOf('\\') < 0) {
      return text;
    }
    byte[] in = text.getBytes(StandardCharsets.UTF_8);
    byte[] out = new byte[in.length];
    int length = 0;
    for (int i = 0; i < in.length; i++) {
      if (in[i] == '\\' && i + 3 < in.length) {
        out[length++] =
            (byte) ((in[i + 1] - '0') << 6 | (in[i + 2] - '0') << 3 | (in[i + 3] - '0'));
        i += 3;
      } else {
        out[length++] = in[i];
      }
    }
    return new String(out, 0, length, StandardCharsets.UTF_8);
  }
}
