package io.pmemcsi.testbed.kubernetes;

import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * A network and a file system of their own for hollow nodes: they listen on all addresses and
 * create directories wherever pods say, and neither must reach the machine. Out of it leads only a
 * Unix socket, to the API server. All of it is held by processes, so nothing stays when they end.
 */
final class NodeSandbox implements AutoCloseable {

  /** Arguments: our directory, then the program, which may both lie below the /tmp that goes. */
  private static final String APART =
      """
      mkdir -p "$1/tmp"
      mount -t tmpfs tmpfs "$1/tmp"
      case $1 in /tmp/*) mkdir -p "$1$1"; mount --bind "$1" "$1$1" ;; esac
      case $2 in /tmp/*) mkdir -p "$1$(dirname "$2")"; touch "$1$2"; mount --bind "$2" "$1$2" ;; esac
      mount --rbind "$1/tmp" /tmp
      shift
      exec "$@"
      """;

  /** What the fake runtime of hollow nodes gives to every pod. */
  private static final String POD_ADDRESS = "192.168.192.168";

  private static final Duration LIMIT = Duration.ofMinutes(2);

  /** Arguments: a directory and a program that are the same inside and outside. */
  private static final String SET_UP =
      """
      set -e
      ip link set lo up
      ip addr add %s/32 dev lo
      # kubelet takes the address of the default route for the node's
      ip link add node0 type veth peer name node1
      ip addr add 10.99.0.1/24 dev node0
      ip link set node0 up
      ip link set node1 up
      ip route add default dev node0
      # but whatever it looks for out there, name servers and cloud accounts, must fail at once
      ip route add unreachable 0.0.0.0/1
      ip route add unreachable 128.0.0.0/1
      # a copy of the root file system that forgets what is written to it
      mkdir -p "$1/memory"
      mount -t tmpfs tmpfs "$1/memory"
      root="$1/memory/root"
      mkdir "$root" "$1/memory/upper" "$1/memory/work"
      mount -t overlay overlay -o "lowerdir=/,upperdir=$1/memory/upper,workdir=$1/memory/work" "$root"
      for directory in /dev /proc /sys; do mount --rbind "$directory" "$root$directory"; done
      mkdir -p "$root$1" "$root$(dirname "$2")"
      [ -e "$root$2" ] || touch "$root$2"
      mount --bind "$1" "$root$1"
      mount --bind "$2" "$root$2"
      # written from inside: a process that enters before that would see the file system of the machine
      exec chroot "$root" sh -c 'touch "$1/ready"; exec sleep infinity' sh "$1"
      """
          .formatted(POD_ADDRESS);

  /** Reads an HTTP request and says yes to it. */
  private static final String ANSWER =
      """
      #!/bin/sh
      end=$(printf '\\r')
      while read -r line && [ "$line" != "$end" ]; do :; done
      printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok'
      """;

  private final Path directory;

  /** Those that answer probes are added when pods come, by another thread. */
  private final Deque<ChildProcess> processes = new ConcurrentLinkedDeque<>();

  private final ChildProcess holder;

  private NodeSandbox(Path directory, ChildProcess holder) {
    this.directory = directory;
    this.holder = holder;
    processes.push(holder);
  }

  /**
   * Makes the sandbox and the way out to the API server.
   *
   * @param directory an empty one, for sockets and logs
   * @param program the real path of what will be launched
   */
  static NodeSandbox create(Path directory, Path program, URI server) {
    Path log = directory.resolve("sandbox.log");
    ChildProcess holder =
        ChildProcess.start(
            "the namespace for hollow nodes (it needs root, and the packages iproute2 and socat)",
            log,
            List.of(
                "unshare",
                "--net",
                "--mount",
                "--propagation=private",
                "sh",
                "-c",
                SET_UP,
                "sh",
                directory.toString(),
                program.toString()));
    NodeSandbox sandbox = new NodeSandbox(directory, holder);
    try {
      holder.awaitReady(LIMIT, () -> Files.exists(directory.resolve("ready")));
      sandbox.bridge(server);
      return sandbox;
    } catch (RuntimeException e) {
      sandbox.close();
      throw e;
    }
  }

  /** Runs a program in here, with an empty environment: kubelet would look for cloud accounts. */
  ChildProcess launch(String name, List<String> command) {
    return ChildProcess.start(
        name,
        directory.resolve(name + ".log"),
        List.of("nsenter", "--target=" + holder.pid(), "--net", "--mount", "--root", "--wd"),
        command,
        Map.of());
  }

  /**
   * The same with a /tmp of its own, apart from our directory and the program: every hollow kubelet
   * has its fake runtime at one path there, and two of them at one socket kill each other's pods.
   */
  ChildProcess launchApart(String name, List<String> command) {
    var apart =
        new ArrayList<>(
            List.of("unshare", "--mount", "--propagation=private", "sh", "-euc", APART, "sh"));
    apart.add(directory.toString());
    apart.addAll(command);
    return launch(name, apart);
  }

  /** Answers all HTTP requests, or all connections, on a port with yes. */
  void answer(int port, boolean tls) {
    Path script = directory.resolve("answer");
    try {
      if (!Files.exists(script)) {
        Files.writeString(script, ANSWER);
        if (!script.toFile().setExecutable(true)) {
          throw new IOException("cannot make it executable");
        }
        new Certificates("probes").issue("CN=probes").write(directory, "probes");
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + script, e);
    }
    String listen =
        tls
            ? "OPENSSL-LISTEN:%d,fork,reuseaddr,verify=0,cert=%s,key=%s"
                .formatted(port, directory.resolve("probes.crt"), directory.resolve("probes.key"))
            : "TCP-LISTEN:%d,fork,reuseaddr".formatted(port);
    processes.push(socat("answers-" + port, true, listen, "EXEC:" + script));
  }

  @Override
  public void close() {
    while (!processes.isEmpty()) {
      processes.pop().close();
    }
  }

  private void bridge(URI server) {
    Path socket = directory.resolve("api.sock");
    ChildProcess outside =
        socat(
            "bridge-outside",
            false,
            "UNIX-LISTEN:%s,fork,mode=600".formatted(socket),
            "TCP:127.0.0.1:" + server.getPort());
    processes.push(outside);
    outside.awaitReady(LIMIT, () -> Files.exists(socket));
    processes.push(
        socat(
            "bridge-inside",
            true,
            "TCP-LISTEN:%d,bind=127.0.0.1,fork,reuseaddr".formatted(server.getPort()),
            "UNIX-CONNECT:" + socket));
  }

  private ChildProcess socat(String name, boolean inside, String from, String to) {
    return ChildProcess.start(
        name,
        directory.resolve(name + ".log"),
        inside ? List.of("nsenter", "--target=" + holder.pid(), "--net") : List.of(),
        List.of("socat", from, to),
        Map.of());
  }
}
