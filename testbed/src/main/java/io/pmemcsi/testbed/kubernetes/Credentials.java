package io.pmemcsi.testbed.kubernetes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

/** The files by which the servers of a control plane and their clients know each other. */
final class Credentials {

  /**
   * Who talks to the API server. They show tokens, since not every client library reads every kind
   * of key.
   */
  enum Client {
    ADMIN("admin", "system:masters"),
    CONTROLLER_MANAGER("system:kube-controller-manager", ""),
    SCHEDULER("system:kube-scheduler", ""),
    KUBELET("system:node:" + Network.NODE, "system:nodes"),
    KUBE_PROXY("system:kube-proxy", "");

    private final String user;
    private final String group;

    Client(String user, String group) {
      this.user = user;
      this.group = group;
    }
  }

  private final Path directory;
  private final Certificates authority = new Certificates("testbed");
  private final Map<Client, String> tokens = new EnumMap<>(Client.class);

  private Credentials(Path directory) {
    this.directory = directory;
    for (Client client : Client.values()) {
      tokens.put(client, UUID.randomUUID().toString());
    }
  }

  /** Makes new ones and writes all that the servers read. */
  static Credentials create(Path directory) {
    return create(directory, Network.LOOPBACK);
  }

  /** The same for servers in a network: pods reach the API server by its service's address. */
  static Credentials create(Path directory, Network network) {
    Credentials credentials = new Credentials(directory);
    Certificates authority = credentials.authority;
    Certificates.Issued server =
        authority.issue("CN=kube-apiserver", network.address(), Network.API_SERVICE);
    Certificates.Issued accounts = authority.issue("CN=service-accounts");
    try {
      Files.writeString(credentials.authorityFile(), authority.authorityPem());
      Files.writeString(credentials.authorityKeyFile(), authority.authorityKeyPem());
      Files.writeString(credentials.accountsKeyFile(), accounts.keyPem());
      Files.writeString(credentials.accountsPublicKeyFile(), accounts.publicKeyPem());
      Files.write(
          credentials.tokensFile(),
          credentials.tokens.entrySet().stream()
              .map(entry -> line(entry.getKey(), entry.getValue()))
              .toList());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write credentials", e);
    }
    server.write(directory, "server");
    authority
        .issue("O=system:masters,CN=kube-apiserver-kubelet-client")
        .write(directory, "kubelet-client");
    return credentials;
  }

  /** Sets the address of the server for the clients. */
  void writeKubeconfigs(String server) {
    tokens.forEach(
        (client, token) ->
            Kubeconfig.write(kubeconfig(client), server, authority.authorityPem(), token));
  }

  Certificates authority() {
    return authority;
  }

  Path kubeconfig(Client client) {
    return directory.resolve(client.name().toLowerCase(Locale.ROOT) + ".kubeconfig");
  }

  Path authorityFile() {
    return directory.resolve("ca.crt");
  }

  Path authorityKeyFile() {
    return directory.resolve("ca.key");
  }

  Path serverFile() {
    return directory.resolve("server.crt");
  }

  Path serverKeyFile() {
    return directory.resolve("server.key");
  }

  Path kubeletClientFile() {
    return directory.resolve("kubelet-client.crt");
  }

  Path kubeletClientKeyFile() {
    return directory.resolve("kubelet-client.key");
  }

  Path accountsKeyFile() {
    return directory.resolve("accounts.key");
  }

  Path accountsPublicKeyFile() {
    return directory.resolve("accounts.pub");
  }

  Path tokensFile() {
    return directory.resolve("tokens.csv");
  }

  /** As kube-apiserver wants it: token, user, user's id, groups. */
  private static String line(Client client, String token) {
    return String.join(",", token, client.user, client.user, client.group);
  }
}
