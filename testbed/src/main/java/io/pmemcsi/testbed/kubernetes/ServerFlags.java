package io.pmemcsi.testbed.kubernetes;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** How each server is called, in each version of Kubernetes. */
record ServerFlags(KubernetesVersion version, Credentials credentials, Network network) {

  ServerFlags(KubernetesVersion version, Credentials credentials) {
    this(version, credentials, Network.LOOPBACK);
  }

  /** The store, which forgets everything with its directory and therefore need not be careful. */
  List<String> etcd(Path data, String client, String peer) {
    return List.of(
        "--data-dir=" + data,
        "--unsafe-no-fsync",
        "--listen-client-urls=" + client,
        "--advertise-client-urls=" + client,
        "--listen-peer-urls=" + peer,
        "--initial-advertise-peer-urls=" + peer,
        "--initial-cluster=default=" + peer,
        "--logger=zap",
        "--log-level=warn");
  }

  List<String> apiServer(String store, int port) {
    return Stream.of(
            Stream.of("--etcd-servers=" + store, "--secure-port=" + port), listen(), apiServer())
        .flatMap(flags -> flags)
        .toList();
  }

  private Stream<String> listen() {
    return network.hasNodes()
        ? Stream.of(
            "--bind-address=0.0.0.0",
            "--advertise-address=" + network.address(),
            "--kubelet-client-certificate=" + credentials.kubeletClientFile(),
            "--kubelet-client-key=" + credentials.kubeletClientKeyFile(),
            // no name server knows the node
            "--kubelet-preferred-address-types=InternalIP")
        : Stream.of(
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            // the address of an endpoint may not be a loopback one
            "--endpoint-reconciler-type=none");
  }

  private Stream<String> apiServer() {
    return Stream.of(
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins="
            + "NodeRestriction,MutatingAdmissionWebhook,ValidatingAdmissionWebhook",
        "--allow-privileged=true",
        // fair queues matter to servers under load; their bookkeeping is a ninth of the work here
        "--enable-priority-and-fairness=false",
        "--client-ca-file=" + credentials.authorityFile(),
        "--token-auth-file=" + credentials.tokensFile(),
        "--tls-cert-file=" + credentials.serverFile(),
        "--tls-private-key-file=" + credentials.serverKeyFile(),
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-account-key-file=" + credentials.accountsPublicKeyFile(),
        "--service-account-signing-key-file=" + credentials.accountsKeyFile(),
        "--service-cluster-ip-range=10.96.0.0/16");
  }

  List<String> controllerManager(int port) {
    return Stream.of(
            loopback(port),
            Stream.of(
                "--kubeconfig=" + credentials.kubeconfig(Credentials.Client.CONTROLLER_MANAGER),
                "--leader-elect=false",
                "--controllers=*",
                "--use-service-account-credentials=true",
                "--service-account-private-key-file=" + credentials.accountsKeyFile(),
                "--root-ca-file=" + credentials.authorityFile(),
                "--cluster-signing-cert-file=" + credentials.authorityFile(),
                "--cluster-signing-key-file=" + credentials.authorityKeyFile()))
        .flatMap(flags -> flags)
        .toList();
  }

  List<String> scheduler(int port) {
    return Stream.of(
            loopback(port),
            Stream.of(
                "--kubeconfig=" + credentials.kubeconfig(Credentials.Client.SCHEDULER),
                "--leader-elect=false"))
        .flatMap(flags -> flags)
        .toList();
  }

  /** A scheduler whose configuration file also says where the API server is. */
  List<String> scheduler(int port, Path configuration) {
    return Stream.concat(loopback(port), Stream.of("--config=" + configuration)).toList();
  }

  private Stream<String> loopback(int port) {
    Stream<String> flags =
        Stream.of(
            "--bind-address=127.0.0.1",
            "--secure-port=" + port,
            "--tls-cert-file=" + credentials.serverFile(),
            "--tls-private-key-file=" + credentials.serverKeyFile());
    // older ones also listen without TLS on all addresses by default; newer ones know no
    // such flag
    return version.isAtLeast(1, 24) ? flags : Stream.concat(flags, Stream.of("--port=0"));
  }
}
