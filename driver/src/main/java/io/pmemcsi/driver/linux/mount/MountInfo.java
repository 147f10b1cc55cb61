package io.pmemcsi.driver.linux.mount;

import io.pmemcsi.driver.linux.block.DeviceNumber;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Reads /proc/PID/mountinfo. Names in it are bytes: any user of the node may mount something whose
 * name is not text, and that must not keep the driver from finding its own mounts.
 */
final class MountInfo {

  /** SELinux contexts may contain commas. */
  private static final Pattern OUTSIDE_QUOTES =
      Pattern.compile(",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)");

  private MountInfo() {}

  static List<String> lines(byte[] content) {
    // one character for each byte, so that nothing is lost before names are unescaped
    String text = new String(content, StandardCharsets.ISO_8859_1);
    // the kernel escapes line feeds in names, but no other line ends
    return Arrays.stream(text.split("\n")).filter(line -> !line.isBlank()).toList();
  }

  static MountEntry parse(String line) {
    int dash = line.indexOf(" - ");
    String[] left = dash < 0 ? new String[0] : line.substring(0, dash).split(" ", -1);
    String[] right = dash < 0 ? new String[0] : line.substring(dash + 3).split(" ", -1);
    if (left.length < 6 || right.length < 3) {
      throw new IllegalArgumentException("not a line of a mount table: " + line);
    }
    return new MountEntry(
        DeviceNumber.parse(left[2]),
        name(left[3]),
        path(left[4]),
        options(left[5]),
        right[0],
        name(right[1]),
        options(right[2]));
  }

  private static Set<String> options(String text) {
    String[] all = text.indexOf('"') < 0 ? text.split(",") : OUTSIDE_QUOTES.split(text);
    return Arrays.stream(all).collect(Collectors.toUnmodifiableSet());
  }

  private static Path path(String escaped) {
    try {
      return Path.of(name(escaped));
    } catch (InvalidPathException e) {
      // the JVM's locale has no such characters
      return Path.of(printable(unescape(escaped)));
    }
  }

  private static String name(String escaped) {
    byte[] bytes = unescape(escaped);
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return printable(bytes);
    }
  }

  /** Bytes that are not text, as the kernel itself escapes characters: for people to read. */
  private static String printable(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte b : bytes) {
      if (b >= 0) {
        text.append((char) b);
      } else {
        text.append("\\%03o".formatted(b & 0xff));
      }
    }
    return text.toString();
  }

  /** The kernel writes blanks, tabs, line ends and backslashes as three octal digits. */
  private static byte[] unescape(String text) {
    byte[] in = text.getBytes(StandardCharsets.ISO_8859_1);
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
    return Arrays.copyOf(out, length);
  }
}
