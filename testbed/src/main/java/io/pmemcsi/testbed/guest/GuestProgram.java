package io.pmemcsi.testbed.guest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A program that runs in the guest, in a session of its own; what it prints goes to a file in the
 * share.
 */
public final class GuestProgram {
  private final PmemGuest guest;
  private final String name;

  private GuestProgram(PmemGuest guest, String name) {
    this.guest = guest;
    this.name = name;
  }

  static GuestProgram start(PmemGuest guest, String name, String commandLine) {
    if (!name.matches("[a-z0-9-]+")) {
      throw new IllegalArgumentException("not a good name for a program: " + name);
    }
    GuestProgram program = new GuestProgram(guest, name);
    program.guest.run(
        """
        rm -f %s
        setsid bash -c 'echo $$ > %s; exec %s' < /dev/null >> /host/%s.log 2>&1 &
        until [ -s %s ]; do sleep 0.02; done
        """
            .formatted(
                program.pidFile(),
                program.pidFile(),
                commandLine.replace("'", "'\\''"),
                name,
                program.pidFile()));
    return program;
  }

  public boolean isRunning() {
    return guest.exec("kill -0 $(cat %s)".formatted(pidFile())).ok();
  }

  /**
   * Waits until it listens there. The guest does it with what bash has built in: each look from
   * outside would cost as much as a command. The flags in the kernel's table say who listens; the
   * socket's file is there a moment before that.
   */
  public void awaitSocket(String socket, Duration timeout) {
    String wait =
        """
        p=$(cat %s); exec {never}<> <(:)
        listens() { IFS= read -rd '' all < /proc/net/unix; [[ $all =~ \\ 00010000\\ [^$'\\n']*\\ %s ]]; }
        until listens; do kill -0 $p || exit; read -t 0.3 -u $never; done; true
        """
            .formatted(pidFile(), socket);
    if (!guest.exec(wait, timeout).ok()) {
      throw new GuestException(
          "%s in the guest did not listen at %s within %s; it printed:%n%s"
              .formatted(name, socket, timeout, log()));
    }
  }

  /** Asks it to end and waits until it has. */
  public void stop(Duration timeout) {
    signal("TERM");
    awaitEnd(timeout);
  }

  /** Ends it at once, as kill -9 does. */
  public void kill() {
    signal("KILL");
    awaitEnd(Duration.ofMinutes(2));
  }

  /** Everything that it has printed so far, in all its runs. */
  public String log() {
    Path file = guest.share().resolve(name + ".log");
    try {
      return Files.exists(file) ? Files.readString(file, StandardCharsets.ISO_8859_1) : "";
    } catch (IOException e) {
      throw new GuestException("cannot read " + file, e);
    }
  }

  private void signal(String signal) {
    guest.exec("kill -%s $(cat %s)".formatted(signal, pidFile()));
  }

  private void awaitEnd(Duration timeout) {
    String wait =
        """
        p=$(cat %s); exec {never}<> <(:)
        while read -r _ _ state _ 2> /dev/null < /proc/$p/stat && [ "$state" != Z ]; do
        read -t 0.05 -u $never; done; rm -f %s
        """
            .formatted(pidFile(), pidFile());
    ExecResult result = guest.exec(wait, timeout);
    if (!result.ok()) {
      throw new GuestException(
          "%s in the guest did not end within %s; it printed:%n%s".formatted(name, timeout, log()));
    }
  }

  private String pidFile() {
    return "/run/programs/" + name;
  }
}
