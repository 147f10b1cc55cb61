package io.pmemcsi.testbed.kubernetes;

import java.util.List;

/** The network in which the servers of a control plane listen. */
public interface Network {

  /** The name of the one node that a network may have. */
  String NODE = "node-1";

  /** The address of the service of the API server: the first one of those for services. */
  String API_SERVICE = "10.96.0.1";

  /** This machine's loopback: no node can reach the servers, apart from hollow ones. */
  Network LOOPBACK =
      new Network() {
        @Override
        public List<String> prefix() {
          return List.of();
        }

        @Override
        public String address() {
          return "127.0.0.1";
        }

        @Override
        public void publish(int port) {
          // reachable already
        }
      };

  /** A program that runs its arguments in this network, such as {@code nsenter}, or nothing. */
  List<String> prefix();

  /** The address at which nodes reach the API server. */
  String address();

  /** Makes a port of the network's loopback reachable at the same port of this machine's. */
  void publish(int port);

  /** Whether nodes and pods can reach the servers. */
  default boolean hasNodes() {
    return !address().equals("127.0.0.1");
  }
}
