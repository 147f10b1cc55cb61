package io.pmemcsi.embedded.server;

import io.pmemcsi.embedded.schema.ResourceType;

/** The Kubernetes version that the server reports. */
public record ServerVersion(int major, int minor, int patch) {
  /** The version of the type table. */
  public static final ServerVersion KNOWN = new ServerVersion(1, 20, 2);

  /** Parses versions such as 1.20.2 or 1.31. */
  public static ServerVersion parse(String text) {
    if (!text.matches("v?\\d{1,4}\\.\\d{1,4}(\\.\\d{1,4})?")) {
      throw new IllegalArgumentException(
          "'%s' is not a Kubernetes version: use 1.20 or 1.20.2".formatted(text));
    }
    String[] parts = text.replace("v", "").split("\\.", -1);
    return new ServerVersion(
        Integer.parseInt(parts[0]),
        Integer.parseInt(parts[1]),
        parts.length > 2 ? Integer.parseInt(parts[2]) : 0);
  }

  /** Whether objects may have fields that the type table does not contain. */
  boolean newer() {
    return minor > KNOWN.minor;
  }

  /** Whether this version serves a kind; most kinds of the table exist in all versions. */
  boolean serves(ResourceType type) {
    if (type.is("storage.k8s.io", "csistoragecapacities")) {
      return type.version().equals("v1") ? minor >= 24 : minor >= 21 && minor < 27;
    }
    if (type.is("policy", "poddisruptionbudgets")) {
      return type.version().equals("v1") ? minor >= 21 : minor < 25;
    }
    return true;
  }

  @Override
  public String toString() {
    return "v%d.%d.%d".formatted(major, minor, patch);
  }
}
