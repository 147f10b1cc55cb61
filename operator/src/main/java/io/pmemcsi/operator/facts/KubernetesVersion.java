package io.pmemcsi.operator.facts;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Major and minor version of a Kubernetes server. */
public record KubernetesVersion(int major, int minor) implements Comparable<KubernetesVersion> {

  /** The oldest supported version. */
  public static final KubernetesVersion OLDEST = new KubernetesVersion(1, 20);

  /** The newest version with golden files; later ones get the same objects. */
  public static final KubernetesVersion NEWEST_KNOWN = new KubernetesVersion(1, 37);

  /** The version whose fields the client library knows. */
  static final KubernetesVersion OF_LIBRARY = new KubernetesVersion(1, 36);

  private static final Pattern TEXT =
      Pattern.compile("v?(\\d{1,4})\\.(\\d{1,4})(\\.\\d+)?([-+].*)?");

  /** Reads {@code 1.20}, {@code v1.20.2} or {@code 1.20+}. */
  public static KubernetesVersion parse(String text) {
    Matcher matcher = TEXT.matcher(text.strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "\"%s\" is not a Kubernetes version: write it like 1.20".formatted(text));
    }
    return new KubernetesVersion(
        Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
  }

  /** From the fields of the server's response; some vendors report a minor version like 20+. */
  public static KubernetesVersion of(String major, String minor) {
    return parse(major.replaceAll("\\D", "") + "." + minor.replaceAll("\\D", ""));
  }

  public boolean atLeast(int otherMajor, int otherMinor) {
    return compareTo(new KubernetesVersion(otherMajor, otherMinor)) >= 0;
  }

  @Override
  public int compareTo(KubernetesVersion other) {
    return major == other.major
        ? Integer.compare(minor, other.minor)
        : Integer.compare(major, other.major);
  }

  @Override
  public String toString() {
    return major + "." + minor;
  }
}
