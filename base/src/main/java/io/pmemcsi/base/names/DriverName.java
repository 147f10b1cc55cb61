package io.pmemcsi.base.names;

import java.util.regex.Pattern;

/**
 * The name of a CSI driver, checked against what both CSI and Kubernetes allow, and the names that
 * follow from it.
 *
 * @param value for example {@code pmem-csi.intel.com}
 */
public record DriverName(String value) {

  private static final int MAX_LENGTH = 63;
  private static final Pattern ALLOWED =
      Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");

  public DriverName {
    if (value.length() > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "driver name \"%s\" has %d characters: use %d at most"
              .formatted(value, value.length(), MAX_LENGTH));
    }
    if (!ALLOWED.matcher(value).matches()) {
      throw new IllegalArgumentException(
          "driver name \"%s\" is not a domain name: use lower case letters, digits, dashes and dots,"
                  .formatted(value)
              + " each part starting and ending with a letter or digit");
    }
  }

  /** Whether a driver can have this name. */
  public static boolean isAllowed(String value) {
    return value.length() <= MAX_LENGTH && ALLOWED.matcher(value).matches();
  }

  /** The name as a prefix for objects whose names may not contain dots. */
  public String hyphenated() {
    return value.replace('.', '-');
  }

  /** The topology key under which a node says which node it is. */
  public String topologyKey() {
    return value + "/node";
  }

  /** The label by which an administrator requests the conversion of a node's raw namespaces. */
  public String convertLabel() {
    return value + "/convert-raw-namespaces";
  }

  /** The key of the taint that the driver removes from its node when it is ready. */
  public String startupTaint() {
    return value + "/agent-not-ready";
  }

  /**
   * The extended resource by which kube-scheduler recognizes pods that it asks the extender about.
   */
  public String schedulerResource() {
    return value + "/scheduler";
  }

  @Override
  public String toString() {
    return value;
  }
}
