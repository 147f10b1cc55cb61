package io.pmemcsi.testbed.kubernetes;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The version of a Kubernetes server, as far as behaviour depends on it. */
public record KubernetesVersion(int major, int minor) implements Comparable<KubernetesVersion> {

  private static final Pattern NUMBERS = Pattern.compile("v?(\\d+)\\.(\\d+)");

  /** Finds the version in texts like {@code Kubernetes v1.20.2} or {@code v1.31.0+k3s1}. */
  public static KubernetesVersion parse(String text) {
    Matcher numbers = NUMBERS.matcher(text);
    if (!numbers.find()) {
      throw new IllegalArgumentException("no Kubernetes version in \"%s\"".formatted(text));
    }
    return new KubernetesVersion(
        Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2)));
  }

  public boolean isAtLeast(int otherMajor, int otherMinor) {
    return compareTo(new KubernetesVersion(otherMajor, otherMinor)) >= 0;
  }

  @Override
  public int compareTo(KubernetesVersion other) {
    return major != other.major
        ? Integer.compare(major, other.major)
        : Integer.compare(minor, other.minor);
  }

  @Override
  public String toString() {
    return major + "." + minor;
  }
}
