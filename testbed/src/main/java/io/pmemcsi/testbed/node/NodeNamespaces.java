package io.pmemcsi.testbed.node;

import io.pmemcsi.testbed.kubernetes.Network;
import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Mount, network and PID namespaces for one node: it listens on all addresses, mounts file systems
 * and changes kernel parameters, none of which may reach the machine. The process that holds the
 * namespaces takes everything in them along when it ends. Out of them lead only Unix sockets.
 */
final class NodeNamespaces implements Network, AutoCloseable {

  private static final String ADDRESS = "10.99.0.1";
  private static final Duration LIMIT = Duration.ofMinutes(1);

  /** Argument: the directory that gets what the node writes. */
  private static final String SET_UP =
      """
      set -e
      # a peer group of its own: mounts propagate between kubelet and pods, and not to the machine
      mount --make-rprivate /
      mount --make-rshared /
      for directory in var/lib var/log run; do
        mkdir -p "$1/fs/$directory"
        mount --bind "$1/fs/$directory" "/$directory"
      done
      mkdir -p /run/lock /var/lib/kubelet
      # kubelet finds the kernel parameters that it wants, and writes them to files
      mkdir "$1/parameters"
      for parameter in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \\
        kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
        file=$1/parameters/$(echo "${parameter%%=*}" | tr / .)
        echo "${parameter#*=}" > "$file"
        mount --bind "$file" "/proc/sys/${parameter%%=*}"
      done
      ip link set lo up
      ip link add node0 type veth peer name node1
      ip addr add @ADDRESS@/32 dev node0
      ip link set node0 up
      ip link set node1 up
      ip route add default dev node0
      echo 1 > /proc/sys/net/ipv4/ip_forward
      touch "$1/ready"
      # a shell that waits also reaps the processes that containers leave to the first process
      sleep infinity &
      wait
      """
          .replace("@ADDRESS@", ADDRESS);

  private final Path directory;
  private final ChildProcess holder;
  private final Deque<ChildProcess> processes = new ConcurrentLinkedDeque<>();

  private NodeNamespaces(Path directory, ChildProcess holder) {
    this.directory = directory;
    this.holder = holder;
    processes.push(holder);
  }

  /**
   * Creates the namespaces.
   *
   * @param directory an empty one, which is the same inside and outside
   */
  static NodeNamespaces create(Path directory) {
    ChildProcess holder =
        ChildProcess.start(
            "the namespaces of the node (they need root, and the package iproute2)",
            directory.resolve("namespaces.log"),
            List.of(
                "unshare",
                "--mount",
                "--net",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount-proc",
                "--propagation=private",
                "sh",
                "-c",
                SET_UP,
                "sh",
                directory.toString()));
    NodeNamespaces namespaces = new NodeNamespaces(directory, holder);
    try {
      holder.awaitReady(LIMIT, () -> Files.exists(directory.resolve("ready")));
      return namespaces;
    } catch (RuntimeException e) {
      namespaces.close();
      throw e;
    }
  }

  @Override
  public List<String> prefix() {
    return List.of("nsenter", "--target=" + holder.pid(), "--net");
  }

  @Override
  public String address() {
    return ADDRESS;
  }

  @Override
  public void publish(int port) {
    Path socket = directory.resolve("port-%d.sock".formatted(port));
    String listen = "UNIX-LISTEN:%s,fork,mode=600".formatted(socket);
    String name = "port-" + port;
    ChildProcess inside =
        launch(name + "-inside", prefix(), List.of("socat", listen, "TCP:127.0.0.1:" + port));
    inside.awaitReady(LIMIT, () -> Files.exists(socket));
    launch(
        name + "-outside",
        List.of(),
        List.of(
            "socat",
            "TCP-LISTEN:%d,bind=127.0.0.1,fork,reuseaddr".formatted(port),
            "UNIX-CONNECT:" + socket));
  }

  private ChildProcess launch(String name, List<String> prefix, List<String> command) {
    ChildProcess process =
        ChildProcess.start(name, directory.resolve(name + ".log"), prefix, command, Map.of());
    processes.push(process);
    return process;
  }

  /** Starts a program of the node in the background. Its parent is a process outside. */
  ChildProcess start(String name, List<String> command, Map<String, String> environment) {
    ChildProcess process =
        ChildProcess.start(
            name, directory.resolve(name + ".log"), enterAll(), command, environment);
    processes.push(process);
    return process;
  }

  /** Ends a program that {@link #start} started, with the signal TERM. */
  void stop(ChildProcess process) {
    List<ProcessHandle> children =
        ProcessHandle.of(process.pid()).stream().flatMap(ProcessHandle::children).toList();
    children.forEach(ProcessHandle::destroy);
    children.forEach(child -> child.onExit().join());
    process.close();
    processes.remove(process);
  }

  /** Runs a command of the node and returns what it prints; fails where the command does. */
  String run(List<String> command) {
    List<String> all = new ArrayList<>(enterAll());
    all.addAll(command);
    try {
      Process process = new ProcessBuilder(all).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException(
            "%s failed on the node with code %d: %s"
                .formatted(String.join(" ", command), process.exitValue(), output));
      }
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run " + command, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while running " + command, e);
    }
  }

  /** The mounts of the node, as {@code /proc/PID/mountinfo} has them. */
  List<String> mounts() {
    try {
      return Files.readAllLines(Path.of("/proc/%d/mountinfo".formatted(holder.pid())));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the mounts of the node", e);
    }
  }

  /** The holder itself is in the namespaces, except that only its children are in the PID one. */
  private List<String> enterAll() {
    return List.of(
        "nsenter",
        "--target=" + holder.pid(),
        "--net",
        "--mount",
        "--pid=/proc/%d/ns/pid_for_children".formatted(holder.pid()),
        "--");
  }

  @Override
  public void close() {
    while (!processes.isEmpty()) {
      processes.pop().close();
    }
  }
}
