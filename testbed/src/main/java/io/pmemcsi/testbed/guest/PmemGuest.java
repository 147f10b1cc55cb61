package io.pmemcsi.testbed.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running machine with persistent memory. Commands run in it as root; {@code /host} there is
 * {@link #share()} here, {@code /program} is {@link #program()}, {@code /jdk} is the JDK that runs
 * this, {@code /disk} is the machine's own disk. The NVDIMMs and the disk survive {@link #reboot()}
 * and {@link #powerCut()}; everything else in the machine is new after a boot.
 */
public final class PmemGuest implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PmemGuest.class);
  private static final Duration BOOT = Duration.ofMinutes(5);
  private static final Duration POWER_OFF = Duration.ofMinutes(2);
  private static final Duration COMMAND = Duration.ofMinutes(4);
  private static final int BOOT_ATTEMPTS = 3;

  /** One for the agent, the others are handed out by the forward methods. */
  private static final int PORTS = 8;

  private final GuestImage image;
  private final GuestConfig config;
  private final Path directory;
  private final Map<String, Integer> forwards = new HashMap<>();
  private Qemu qemu;

  private PmemGuest(GuestImage image, GuestConfig config, Path directory, Qemu qemu) {
    this.image = image;
    this.config = config;
    this.directory = directory;
    this.qemu = qemu;
  }

  /**
   * Boots a machine with fresh NVDIMMs whose files and console log are kept in the given directory.
   */
  public static PmemGuest boot(GuestConfig config, Path directory) {
    GuestImage image = GuestImage.prepare();
    Path absolute = directory.toAbsolutePath();
    try {
      Files.createDirectories(absolute.resolve("share"));
    } catch (IOException e) {
      throw new GuestException("cannot use the directory " + absolute, e);
    }
    delete(absolute, "*.{img,log}");
    delete(absolute.resolve("share"), "*.log");
    return new PmemGuest(image, config, absolute, start(image, config, absolute));
  }

  /** The directory that both sides see; in the guest it is /host. */
  public Path share() {
    return directory.resolve("share");
  }

  /**
   * A directory for programs; in the guest it is /program, which cannot be written there. The guest
   * remembers each file that it has read: what changes later, it may not see before its next boot.
   */
  public Path program() {
    return directory.resolve("program");
  }

  public GuestConfig config() {
    return config;
  }

  /** Runs a bash script with minutes of time; its exit code is for the caller to judge. */
  public ExecResult exec(String script) {
    return exec(script, COMMAND);
  }

  /** Runs a bash script; exit code 124 or 137 means that the time was not enough. */
  public ExecResult exec(String script, Duration timeout) {
    try {
      return new GuestAgent(qemu.ports().getFirst()).run(script, timeout);
    } catch (IOException e) {
      throw new GuestException("cannot run in the guest: " + script + qemu.consoleTail(), e);
    }
  }

  /** Runs a bash script that must succeed, and gives what it printed without the last line end. */
  public String run(String script) {
    ExecResult result = exec(script);
    if (!result.ok()) {
      throw new GuestException(
          "in the guest, exit code %d: %s%n%s%s"
              .formatted(result.exitCode(), script, result.stdout(), result.stderr()));
    }
    return result.stdout().stripTrailing();
  }

  /** Starts a program that lives until it is stopped, killed or the machine goes down. */
  public GuestProgram start(String name, String commandLine) {
    return GuestProgram.start(this, name, commandLine);
  }

  /**
   * A port of the host's loopback that leads to a Unix socket in the guest, until the next boot.
   */
  public int forwardUnix(String socket) {
    return forward("UNIX-CONNECT:" + socket);
  }

  /**
   * A port of the host's loopback that leads to a TCP port of the guest's loopback, until the next
   * boot.
   */
  public int forwardTcp(int guestPort) {
    return forward("TCP:127.0.0.1:" + guestPort);
  }

  /**
   * Writes label areas, after which a region can hold several namespaces; whatever was there is
   * gone.
   */
  public void initLabels() {
    run("ndctl disable-region all && ndctl init-labels -f all && ndctl enable-region all");
  }

  /** Shuts down in good order and boots again. */
  public void reboot() {
    powerOff();
    powerOn();
  }

  /** Pulls the plug and boots again: what was not synced is lost. */
  public void powerCut() {
    qemu.close();
    powerOn();
  }

  /** Pulls the plug and boots again with empty NVDIMMs and an empty disk. */
  public void replaceDevices() {
    qemu.close();
    delete(directory, "*.img");
    powerOn();
  }

  /**
   * Pulls the plug and removes the devices' files; the share and the console log stay for
   * inspection.
   */
  @Override
  public void close() {
    qemu.close();
    delete(directory, "*.img");
  }

  private void powerOff() {
    // the answer may get lost in the power-off: what counts is that QEMU ends
    try {
      new GuestAgent(qemu.ports().getFirst())
          .run(
              """
              for f in /run/programs/*; do [ ! -e "$f" ] || kill $(cat $f); done
              umount -a -t ext4,xfs; sync; (sleep 0.2; busybox poweroff -f) > /dev/null 2>&1 &
              """,
              POWER_OFF);
    } catch (IOException e) {
      LOG.atDebug().setCause(e).log("no answer to power-off");
    }
    qemu.awaitExit(POWER_OFF);
  }

  private void powerOn() {
    forwards.clear();
    qemu = start(image, config, directory);
  }

  private synchronized int forward(String target) {
    return forwards.computeIfAbsent(target, this::newForward);
  }

  private int newForward(String target) {
    int index = forwards.size() + 1;
    if (index >= PORTS) {
      throw new GuestException("no forwarded port is left, in use are " + forwards.keySet());
    }
    int guestPort = Qemu.AGENT_PORT + index;
    run(
        """
        setsid socat TCP-LISTEN:%d,fork,reuseaddr,backlog=64 %s < /dev/null > /dev/null 2>&1 &
        until ss -Hltn 'sport = :%d' | grep -q .; do sleep 0.05; done
        """
            .formatted(guestPort, target, guestPort));
    return qemu.ports().get(index);
  }

  private static Qemu start(GuestImage image, GuestConfig config, Path directory) {
    for (int attempt = 1; ; attempt++) {
      Qemu qemu = Qemu.start(image, config, directory, PORTS);
      try {
        qemu.awaitReady(BOOT);
        return qemu;
      } catch (GuestException e) {
        // another process may have taken the free port before QEMU opened it
        boolean portTaken = qemu.consoleTail().contains("Could not set up host forwarding");
        if (!portTaken || attempt == BOOT_ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private static void delete(Path directory, String names) {
    try (var files = Files.newDirectoryStream(directory, names)) {
      for (Path file : files) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new GuestException("cannot remove %s in %s".formatted(names, directory), e);
    }
  }
}
