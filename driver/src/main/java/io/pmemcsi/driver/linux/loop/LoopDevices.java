package io.pmemcsi.driver.linux.loop;

import io.pmemcsi.driver.json.Json;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandResult;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Attaches files to loop devices and finds them again; losetup is asked in JSON. */
public final class LoopDevices {

  /** How losetup ends when it has made the device, but could only have it with buffers. */
  private static final int NO_DIRECT_IO = 1;

  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration RETRY_EVERY = Duration.ofMillis(10);
  private static final Pattern NUMBER = Pattern.compile("\\d+");

  /**
   * The kernel names the next free device to all who ask at once, and all but one of them have to
   * ask again: one after the other is faster. Nobody waits for long, as a tool may hang.
   */
  private static final Lock ATTACHING = new ReentrantLock();

  private final CommandRunner runner;

  public LoopDevices(CommandRunner runner) {
    this.runner = runner;
  }

  /** A loop device and the part of the file that it shows. */
  public record Loop(Path device, Path file, long offset) {}

  /** All loop devices of a file; the kernel compares files, not names. */
  public List<Loop> of(Path file) {
    return parse(
        runner
            .run(
                Command.of(
                    "losetup", "--json", "--list", "-O", "NAME,BACK-FILE,OFFSET", "-j", "" + file))
            .stdout());
  }

  /** All loop devices of this machine. */
  public List<Loop> all() {
    return parse(
        runner
            .run(Command.of("losetup", "--json", "--list", "-O", "NAME,BACK-FILE,OFFSET"))
            .stdout());
  }

  /** The loop device of a file from that offset on. */
  public Optional<Loop> find(Path file, long offset) {
    return of(file).stream().filter(loop -> loop.offset() == offset).findFirst();
  }

  /**
   * Makes a loop device for a file from that offset on. Direct I/O keeps the data from being cached
   * twice; where the filesystem below cannot do it the kernel goes on without.
   */
  public Path attach(Path file, long offset) {
    CommandResult result = attachNext(file, offset);
    String device = result.stdout().strip();
    if (device.isEmpty()) {
      throw ToolFailedException.exited(Command.of("losetup", "--find", file.toString()), result);
    }
    return Path.of(device);
  }

  private CommandResult attachNext(Path file, long offset) {
    Command command =
        Command.of(
                "losetup",
                "--find",
                "--show",
                "--direct-io=on",
                "--offset",
                Long.toString(offset),
                file.toString())
            .alsoAccepting(NO_DIRECT_IO);
    boolean alone = isMyTurn();
    try {
      return runner.run(command);
    } finally {
      if (alone) {
        ATTACHING.unlock();
      }
    }
  }

  private static boolean isMyTurn() {
    try {
      return ATTACHING.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Removes a loop device. Whoever looks at all loop devices of the machine keeps it alive for a
   * moment, and its file in use; so this waits until it is gone.
   */
  public void detach(Path device) {
    Optional<String> before = backingFile(device);
    detachHeld(device);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (before.isPresent()
        && backingFile(device).equals(before)
        && System.nanoTime() < deadline) {
      LockSupport.parkNanos(RETRY_EVERY.toNanos());
    }
  }

  /** Removes a loop device that the caller holds: it goes when the caller lets go. */
  public void detachHeld(Path device) {
    runner.run(Command.of("losetup", "--detach", device.toString()));
  }

  /** All loop devices that have a file, as the kernel tells it; no tool is needed for that. */
  public static Map<Path, Path> backingFiles() throws IOException {
    Map<Path, Path> files = new LinkedHashMap<>();
    try (Stream<Path> all = Files.list(Path.of("/sys/block"))) {
      all.map(Path::getFileName)
          .filter(name -> name.toString().startsWith("loop"))
          .sorted()
          .map(name -> Path.of("/dev").resolve(name))
          .forEach(
              device ->
                  backingFile(device).ifPresent(file -> files.put(device, Path.of(file.strip()))));
    }
    return files;
  }

  /** What the kernel calls the file of a loop device; nothing when it has none. */
  private static Optional<String> backingFile(Path device) {
    Path attribute = Path.of("/sys/block", device.getFileName().toString(), "loop/backing_file");
    try {
      return Optional.of(Files.readString(attribute));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Lets a loop device see that its file has grown. */
  public void refreshSize(Path device) {
    runner.run(Command.of("losetup", "--set-capacity", device.toString()));
  }

  static List<Loop> parse(String json) {
    // with no device at all losetup prints nothing instead of an empty list
    if (json.isBlank()) {
      return List.of();
    }
    try {
      List<Loop> loops = new ArrayList<>();
      for (Json loop : Json.parse(json).path("loopdevices").elements()) {
        Optional<String> file = loop.path("back-file").text();
        String offset = loop.path("offset").asText();
        // one that somebody removes while losetup looks has no file any more, or no offset
        if (file.isPresent() && NUMBER.matcher(offset).matches()) {
          loops.add(
              new Loop(
                  Path.of(loop.path("name").asText()),
                  Path.of(file.get()),
                  Long.parseLong(offset)));
        }
      }
      return loops;
    } catch (IOException e) {
      throw new IllegalStateException("losetup printed something that is not JSON: " + json, e);
    }
  }
}
