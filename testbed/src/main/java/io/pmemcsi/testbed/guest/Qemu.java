package io.pmemcsi.testbed.guest;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One boot of the guest: a QEMU process on a leash, so that it never outlives this JVM, and its
 * console.
 *
 * <p>The emulator is software only (tcg) unless the environment says otherwise: /dev/kvm can be
 * there, be accepted, and then crawl.
 */
final class Qemu implements AutoCloseable {
  /** Set to kvm on a machine where that is known to work. */
  static final String ACCELERATOR = "PMEM_CSI_GUEST_ACCEL";

  static final int AGENT_PORT = 7000;

  /**
   * The emulator translates code once for each address at which it is met, and follows plain jumps
   * best: without random addresses and detours around a processor's faults a command costs a third.
   */
  private static final String EASY_TO_EMULATE = "norandmaps nokaslr mitigations=off";

  /**
   * What a kernel does on the side at each system call and for each page, and no test asks for:
   * without it a JVM starts in seven eighths of the time.
   */
  private static final String NOTHING_ON_THE_SIDE =
      "init_on_alloc=0 hardened_usercopy=off randomize_kstack_offset=off"
          + " audit=0 apparmor=0 cgroup_disable=memory psi=0 nowatchdog";

  /**
   * A processor whose programs avoid what is dear to emulate: copies byte by byte, wide registers
   * and their saving at each switch, a fence around each look of the kernel into a program, a fifth
   * level of page tables. It is also one that has less than that on which the program was built.
   */
  private static final String CPU =
      "max,la57=off,erms=off,fsrm=off,smap=off,xsave=off,avx=off,avx2=off,pku=off";

  private static final int LABEL_BYTES = 128 * 1024;
  private static final int NUMA_NODES = 2;
  private static final long DISK_BYTES = 256L << 20;
  private static final int TAIL_LINES = 30;

  private final Process process;
  private final Path console;
  private final List<Integer> ports;
  private final CompletableFuture<Void> ready = new CompletableFuture<>();

  /** Guest port 7000 + i is reached through the i-th of these ports of the host's loopback. */
  List<Integer> ports() {
    return ports;
  }

  private Qemu(Process process, Path console, List<Integer> ports) {
    this.process = process;
    this.console = console;
    this.ports = ports;
    // not a virtual one: reading a pipe would keep one of the few threads that carry those
    Thread.ofPlatform().daemon().name("guest-console").start(this::followConsole);
  }

  /**
   * Starts the machine in a directory that holds its NVDIMMs, its disk, its shares and its console
   * log.
   */
  static Qemu start(GuestImage image, GuestConfig config, Path directory, int forwards) {
    try {
      List<Integer> ports = freePorts(forwards);
      List<String> command = new ArrayList<>();
      command.add(image.scripts().resolve("leash").toString());
      command.addAll(commandLine(image, config, directory, ports));
      Path console = directory.resolve("console.log");
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      return new Qemu(process, console, ports);
    } catch (IOException e) {
      throw new GuestException("cannot start QEMU", e);
    }
  }

  void awaitReady(Duration timeout) {
    try {
      ready.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      close();
      throw new GuestException("the guest did not boot within " + timeout + consoleTail(), e);
    } catch (ExecutionException e) {
      close();
      throw new GuestException("the guest ended while booting" + consoleTail(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
      throw new GuestException("interrupted while the guest was booting", e);
    }
  }

  void awaitExit(Duration timeout) {
    try {
      if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new GuestException("the guest did not power off within " + timeout + consoleTail());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GuestException("interrupted while the guest was powering off", e);
    } finally {
      close();
    }
  }

  /** Like pulling the plug; the files of the NVDIMMs keep what had reached them. */
  @Override
  public void close() {
    try {
      process.getOutputStream().close(); // the leash kills QEMU
      if (!process.waitFor(1, TimeUnit.MINUTES)) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The last lines of the console, for messages. */
  String consoleTail() {
    try {
      List<String> lines = Files.readAllLines(console, StandardCharsets.ISO_8859_1);
      List<String> tail = lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size());
      return "\n--- end of " + console + ":\n" + String.join("\n", tail);
    } catch (IOException e) {
      return " (no console log: " + e + ")";
    }
  }

  private void followConsole() {
    try (BufferedReader in = process.inputReader(StandardCharsets.ISO_8859_1);
        Writer log =
            Files.newBufferedWriter(
                console,
                StandardCharsets.ISO_8859_1,
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        log.write(line);
        log.write('\n');
        log.flush();
        if (line.startsWith("guest: ready")) {
          ready.complete(null);
        }
      }
      ready.completeExceptionally(new GuestException("QEMU ended"));
    } catch (IOException e) {
      ready.completeExceptionally(e);
    }
  }

  private static List<String> commandLine(
      GuestImage image, GuestConfig config, Path directory, List<Integer> ports)
      throws IOException {
    boolean kvm = "kvm".equals(System.getenv(ACCELERATOR));
    int maxMemory = config.memoryMiB() + config.nvdimms() * (config.nvdimmMiB() + 1024) + 1024;
    List<String> c = new ArrayList<>();
    c.addAll(List.of("qemu-system-x86_64", "-machine", "pc,nvdimm=on"));
    c.addAll(List.of("-accel", kvm ? "kvm" : "tcg", "-cpu", kvm ? "host" : CPU));
    c.addAll(List.of("-smp", Integer.toString(config.processors())));
    c.addAll(
        List.of(
            "-m",
            "%dM,slots=%d,maxmem=%dM"
                .formatted(config.memoryMiB(), config.nvdimms() + 1, maxMemory)));
    numa(c, config);
    c.addAll(List.of("-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio"));
    c.addAll(List.of("-kernel", image.kernel().toString(), "-initrd", image.initrd().toString()));
    c.addAll(
        List.of(
            "-append",
            String.join(
                " ",
                "console=ttyS0 panic=-1 cryptomgr.notests quiet",
                EASY_TO_EMULATE,
                NOTHING_ON_THE_SIDE)));
    share(c, "rootfs", image.root(), true);
    share(c, "host", Files.createDirectories(directory.resolve("share")), false);
    share(c, "program", Files.createDirectories(directory.resolve("program")), true);
    share(c, "jdk", Path.of(System.getProperty("java.home")).toRealPath(), true);
    disk(c, directory.resolve("disk.img"));
    for (int i = 0; i < config.nvdimms(); i++) {
      nvdimm(c, i, directory.resolve("nvdimm" + i + ".img"), config.nvdimmMiB());
    }
    network(c, ports);
    return c;
  }

  /** Two NUMA nodes; the kernel ignores one that has neither processors nor memory. */
  private static void numa(List<String> c, GuestConfig config) {
    int far = config.memoryMiB() / 4;
    List<Integer> sizes = List.of(config.memoryMiB() - far, far);
    for (int node = 0; node < NUMA_NODES; node++) {
      c.addAll(
          List.of(
              "-object",
              "memory-backend-ram,id=ram%d,size=%dM".formatted(node, sizes.get(node)),
              "-numa",
              "node,nodeid=%d,memdev=ram%d".formatted(node, node)
                  + (node == 0 ? ",cpus=0-" + (config.processors() - 1) : "")));
    }
  }

  private static void share(List<String> c, String tag, Path path, boolean readOnly) {
    String options = readOnly ? ",readonly=on" : "";
    c.addAll(
        List.of(
            "-fsdev",
            "local,id=%s,path=%s,security_model=none,multidevs=remap%s"
                .formatted(tag, path, options),
            "-device",
            "virtio-9p-pci,fsdev=%s,mount_tag=%s".formatted(tag, tag)));
  }

  private static void disk(List<String> c, Path file) throws IOException {
    // unsafe for those whose host loses power: what the guest has written outlives QEMU
    sparse(file, DISK_BYTES);
    c.addAll(
        List.of(
            "-drive",
            "if=none,id=disk,format=raw,cache=unsafe,file=" + file,
            "-device",
            "virtio-blk-pci,drive=disk"));
  }

  private static void nvdimm(List<String> c, int i, Path file, int sizeMiB) throws IOException {
    // QEMU cuts the labels off the end of the file: without the extra bytes the region's size would
    // be odd
    long bytes = ((long) sizeMiB << 20) + LABEL_BYTES;
    sparse(file, bytes);
    c.addAll(
        List.of(
            "-object",
            "memory-backend-file,id=mem%d,share=on,mem-path=%s,size=%d".formatted(i, file, bytes),
            "-device",
            "nvdimm,id=nvdimm%d,memdev=mem%d,label-size=%d,node=%d"
                .formatted(i, i, LABEL_BYTES, i % NUMA_NODES)));
  }

  private static void network(List<String> c, List<Integer> ports) {
    StringBuilder net = new StringBuilder("user,id=net,restrict=on");
    for (int i = 0; i < ports.size(); i++) {
      net.append(",hostfwd=tcp:127.0.0.1:%d-:%d".formatted(ports.get(i), AGENT_PORT + i));
    }
    c.addAll(List.of("-netdev", net.toString(), "-device", "virtio-net-pci,netdev=net,romfile="));
  }

  private static void sparse(Path file, long bytes) throws IOException {
    if (!Files.exists(file)) {
      try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw")) {
        f.setLength(bytes);
      }
    }
  }

  private static List<Integer> freePorts(int count) throws IOException {
    List<ServerSocket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
      }
      return sockets.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (ServerSocket socket : sockets) {
        socket.close();
      }
    }
  }
}
