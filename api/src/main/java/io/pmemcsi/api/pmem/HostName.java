package io.pmemcsi.api.pmem;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.regex.Pattern;

/** What may stand in a certificate as the name of a server: a name of DNS or an IP address. */
final class HostName {

  private static final String LABEL = "[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?";

  /** The last part of a name is more than digits, or it would be meant as an address. */
  private static final String LAST_LABEL =
      "([0-9]*[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?|[0-9]+-[-A-Za-z0-9]*[A-Za-z0-9])";

  private static final String BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";

  /** All that a schema can say; of IPv6 addresses these are the characters. */
  static final String PATTERN =
      "^([*][.])?("
          + LABEL
          + "[.])*"
          + LAST_LABEL
          + "$|^("
          + BYTE
          + "[.]){3}"
          + BYTE
          + "$|^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$";

  static final String PROBLEM =
      "is neither a DNS name nor an IP address: write one like scheduler.example.com, 10.0.0.1 or"
          + " fd00::1";

  private static final Pattern FORM = Pattern.compile(PATTERN);
  private static final int LONGEST = 253;
  private static final int LONGEST_LABEL = 63;

  private HostName() {}

  static boolean isOne(String name) {
    return FORM.matcher(name).matches()
        && (name.contains(":") ? isAddress(name) : isShortEnough(name));
  }

  private static boolean isShortEnough(String name) {
    return name.length() <= LONGEST
        && Arrays.stream(name.split("[.]")).allMatch(label -> label.length() <= LONGEST_LABEL);
  }

  private static boolean isAddress(String name) {
    try {
      InetAddress.ofLiteral(name);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
