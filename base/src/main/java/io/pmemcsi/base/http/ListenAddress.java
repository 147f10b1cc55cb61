package io.pmemcsi.base.http;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a server listens, written as {@code host:port}; without a host it is every address, with
 * port 0 the system chooses one.
 *
 * @param host empty for every address
 */
public record ListenAddress(String host, int port) {

  private static final Pattern FORM =
      Pattern.compile("(?<host>[^:\\[\\]]*|\\[[^\\]]*\\]):(?<port>\\d{1,5})");

  public ListenAddress {
    if (port < 0 || port > 65535) {
      throw new IllegalArgumentException("port %d is outside 0 to 65535".formatted(port));
    }
  }

  /** Reads {@code :8080}, {@code 127.0.0.1:8080}, {@code [::1]:8080}. */
  public static ListenAddress parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "\"%s\" is no address to listen on: write host:port or :port".formatted(text));
    }
    String host = matcher.group("host");
    if (host.startsWith("[")) {
      host = host.substring(1, host.length() - 1);
    }
    return new ListenAddress(host, Integer.parseInt(matcher.group("port")));
  }

  /** The address as a socket takes it. */
  public InetSocketAddress resolve() throws UnknownHostException {
    return host.isEmpty()
        ? new InetSocketAddress(port)
        : new InetSocketAddress(InetAddress.getByName(host), port);
  }

  /** Where a page of the server is; {@code [::]} stands for every address. */
  String url(String path) {
    return "http://%s%s%s".formatted(host.isEmpty() ? "[::]" : "", this, path);
  }

  @Override
  public String toString() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
