package io.pmemcsi.operator.certs;

import java.net.InetAddress;
import java.util.Locale;
import java.util.regex.Pattern;

/** The name of a server: a DNS name or an IP address. */
final class ServerName {

  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|[0-9a-fA-F:]*:[0-9a-fA-F:.]*");

  private ServerName() {}

  static boolean isAddress(String name) {
    return ADDRESS.matcher(name).matches();
  }

  /**
   * The canonical form: certificates store addresses as bytes, so {@code fd00::1} is read back in
   * another notation.
   */
  static String canonical(String name) {
    return isAddress(name)
        ? InetAddress.ofLiteral(name).getHostAddress()
        : name.toLowerCase(Locale.ROOT);
  }
}
