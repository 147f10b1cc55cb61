package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;

/** The Kubernetes version that the server pretends to be. */
public record ServerVersion(int major, int minor, int patch) {
  /** The version whose types this program knows in every detail. */
  public static final ServerVersion KNOWN = new ServerVersion(1, 20, 2);

  /** Reads versions such as 1.20.2 or 1.31. */
  public static ServerVersion parse(String text) {
    if (!text.matches("v?\\d{1,4}\\.\\d{1,4}(\\.\\d{1,4})?")) {
      throw new IllegalArgumentException(
          "'%s' is no Kubernetes version: write it as 1.20 or 1.20.2".formatted(text));
    }
    String[] parts = text.replace("v", "").split("\\.", -1);
    return new ServerVersion(
        Integer.parseInt(parts[0]),
        Integer.parseInt(parts[1]),
        parts.length > 2 ? Integer.parseInt(parts[2]) : 0);
  }

  /** Whether fields may exist that the type table does not know. */
  public boolean newer() {
    return minor > KNOWN.minor;
  }

  /** Whether this version serves a kind; the others all came with or before the known one. */
  boolean serves(ResourceType type) {
    if (type.is("storage.k8s.io", "csistoragecapacities")) {
      return type.version().equals("v1") ? minor >= 24 : minor >= 21 && minor < 27;
    }
    if (type.is("policy", "poddisruptionbudgets")) {
      return type.version().equals("v1") ? minor >= 21 : minor < 25;
    }
    return true;
  }

  /** The answer to a request for the version. */
  public ObjectNode info() {
    return Json.object()
        .put("major", Integer.toString(major))
        .put("minor", Integer.toString(minor))
        .put("gitVersion", "v%d.%d.%d".formatted(major, minor, patch))
        .put("gitCommit", "")
        .put("gitTreeState", "clean")
        .put("buildDate", "2026-01-01T00:00:00Z")
        .put("goVersion", "none")
        .put("compiler", "none")
        .put("platform", "embedded");
  }
}
