package io.pmemcsi.operator.certs;

import java.net.InetAddress;
import java.util.Locale;
import java.util.regex.Pattern;

/** By what a server is called: a host name or an address. */
final class ServerName {

  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|[0-9a-fA-F:]*:[0-9a-fA-F:.]*");

  private ServerName() {}

  static boolean isAddress(String name) {
    return ADDRESS.matcher(name).matches();
  }

  /**
   * The one form for all spellings: certificates hold addresses as bytes, so {@code fd00::1} comes
   * back from them as something else than what was written.
   */
  static String canonical(String name) {
    return isAddress(name)
        ? InetAddress.ofLiteral(name).getHostAddress()
        : name.toLowerCase(Locale.ROOT);
  }
}
