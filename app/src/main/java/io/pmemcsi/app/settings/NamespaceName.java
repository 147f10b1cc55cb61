package io.pmemcsi.app.settings;

import java.util.regex.Pattern;

/** The name of a namespace, as Kubernetes allows it. */
public record NamespaceName(String value) {

  private static final Pattern ALLOWED = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");

  public NamespaceName {
    if (!ALLOWED.matcher(value).matches()) {
      throw new IllegalArgumentException(
          "not the name of a namespace: use up to 63 lower case letters, digits and dashes, the"
              + " first and last no dash");
    }
  }
}
