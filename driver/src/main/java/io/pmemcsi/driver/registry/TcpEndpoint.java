package io.pmemcsi.driver.registry;

import io.pmemcsi.base.http.ListenAddress;
import java.net.InetSocketAddress;

/**
 * Where the registry or a node's controller service listens, written as {@code tcp://host:port}.
 *
 * @param host empty for every address
 */
public record TcpEndpoint(String host, int port) {

  private static final String SCHEME = "tcp://";

  /** Understands {@code tcp://host:port} and {@code host:port}. */
  public static TcpEndpoint parse(String text) {
    try {
      ListenAddress address =
          ListenAddress.parse(text.startsWith(SCHEME) ? text.substring(SCHEME.length()) : text);
      return new TcpEndpoint(address.host(), address.port());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "\"%s\" is not an endpoint: write tcp://host:port".formatted(text), e);
    }
  }

  /** Whether others can connect to it: to one host, not to every address of an unknown one. */
  public boolean isReachable() {
    return port != 0 && !host.isEmpty() && !host.equals("0.0.0.0") && !host.equals("::");
  }

  TcpEndpoint withPort(int other) {
    return new TcpEndpoint(host, other);
  }

  InetSocketAddress listenAddress() {
    return host.isEmpty() ? new InetSocketAddress(port) : new InetSocketAddress(host, port);
  }

  @Override
  public String toString() {
    return SCHEME + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
