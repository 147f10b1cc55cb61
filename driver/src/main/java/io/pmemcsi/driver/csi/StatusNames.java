package io.pmemcsi.driver.csi;

import io.grpc.Status;

/** Status codes as Go programs and existing dashboards spell them, {@code InvalidArgument}. */
final class StatusNames {
  private StatusNames() {}

  static String of(Status.Code code) {
    return switch (code) {
      case OK -> "OK";
      case CANCELLED -> "Canceled";
      default -> camelCase(code);
    };
  }

  private static String camelCase(Status.Code code) {
    StringBuilder text = new StringBuilder();
    boolean upper = true;
    for (char c : code.name().toCharArray()) {
      if (c == '_') {
        upper = true;
      } else {
        text.append(upper ? c : Character.toLowerCase(c));
        upper = false;
      }
    }
    return text.toString();
  }
}
