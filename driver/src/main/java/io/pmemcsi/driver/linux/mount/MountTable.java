package io.pmemcsi.driver.linux.mount;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What is mounted where at one moment, in the order of mounting. A node may have thousands of
 * mounts: only the lines that may answer a question are parsed.
 */
public final class MountTable {

  private static final Path KERNEL = Path.of("/proc/self/mountinfo");

  /** A path that looks the same in the table: no character is escaped or takes several bytes. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9/._:~@+=,-]+");

  private final List<String> lines;

  private MountTable(List<String> lines) {
    this.lines = lines;
  }

  /** Asks the kernel. */
  public static MountTable read() {
    try {
      return parse(Files.readAllBytes(KERNEL));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read %s: %s".formatted(KERNEL, Reason.of(e)), e);
    }
  }

  /** Reads the format of /proc/self/mountinfo. */
  static MountTable parse(byte[] content) {
    return new MountTable(MountInfo.lines(content));
  }

  /** The same where all names are text. */
  public static MountTable parse(String content) {
    return parse(content.getBytes(StandardCharsets.UTF_8));
  }

  /** All mounts. */
  public List<MountEntry> entries() {
    return lines.stream().map(MountInfo::parse).toList();
  }

  /** What is mounted at a path: the last mount, which hides the others. */
  public Optional<MountEntry> at(Path path) {
    return stackedAt(path).findFirst();
  }

  /** All that is mounted at a path, the last mount first. */
  public List<MountEntry> allAt(Path path) {
    return stackedAt(path).toList();
  }

  private Stream<MountEntry> stackedAt(Path path) {
    String text = path.toString();
    String part = PLAIN.matcher(text).matches() ? " " + text + " " : "";
    return lines.reversed().stream()
        .filter(line -> line.contains(part))
        .map(MountInfo::parse)
        .filter(entry -> entry.mountPoint().equals(path));
  }

  /** All mounts of the filesystem on a device, and all bind mounts of its node. */
  public List<MountEntry> of(DeviceNumber number) {
    String part = " " + number + " ";
    return lines.stream()
        .filter(line -> line.contains(part) || line.contains("tmpfs "))
        .map(MountInfo::parse)
        .filter(entry -> entry.number().equals(number) || isNodeMount(entry, number))
        .toList();
  }

  private static boolean isNodeMount(MountEntry entry, DeviceNumber number) {
    // a device node that is mounted onto a file shows as a part of the filesystem that /dev is
    boolean mayBeNode = !entry.root().equals("/") && entry.type().endsWith("tmpfs");
    return mayBeNode && BlockDevices.isNodeOf(entry.mountPoint(), number);
  }
}
