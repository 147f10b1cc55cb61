package io.pmemcsi.driver.linux.loop;

import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.libc.Descriptor;
import io.pmemcsi.driver.linux.libc.ErrnoException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Attaches files to loop devices and finds the devices of files.
 *
 * <p>A node may have thousands of loop devices, so this remembers which device it has seen for a
 * file and asks the kernel about that one only. All devices are examined only where a file is open
 * elsewhere and no device is known for it.
 */
public final class LoopDevices {

  /** What the kernel adds to the name of a file that does not exist any more. */
  private static final String DELETED = " (deleted)";

  private static final Duration RETRY_EVERY = Duration.ofMillis(10);

  private final LoopCalls kernel;
  private final Map<FileIdentity, Path> known = new ConcurrentHashMap<>();

  public LoopDevices(LoopCalls kernel) {
    this.kernel = kernel;
  }

  /** A loop device and the part of a file that it shows. */
  public record Loop(Path device, FileIdentity file, long offset) {}

  /**
   * The loop devices of a file. If this driver knows of one, only that one is returned: a further
   * one, which only another program can have attached, is returned once the first is detached.
   */
  public List<Loop> of(Path file) throws IOException {
    FileIdentity identity = FileIdentity.of(file);
    Optional<Loop> remembered = remembered(identity);
    if (remembered.isPresent()) {
      return List.of(remembered.get());
    }
    return isOpenElsewhere(file)
        ? all().stream().filter(loop -> loop.file().equals(identity)).toList()
        : List.of();
  }

  /** The loop devices of a file that was deleted from a directory that exists. */
  public List<Loop> ofDeleted(Path file) throws IOException {
    Path directory = file.getParent();
    if (directory == null || !Files.isDirectory(directory)) {
      return List.of();
    }
    long filesystem = FileIdentity.of(directory).device();
    return all().stream().filter(loop -> isOfDeleted(loop, file, filesystem)).toList();
  }

  /**
   * Whether a loop device shows a file that was deleted, by the name that the kernel shows. Where
   * the container that attached the file was replaced, that is only the end of the name.
   *
   * @param filesystem the device number of the filesystem that the file was on
   */
  public static boolean isOfDeleted(Loop loop, Path file, long filesystem) {
    return deletedName(loop.device())
        .filter(
            name ->
                file.toString().equals(name)
                    || (file.toString().endsWith(name) && loop.file().device() == filesystem))
        .isPresent();
  }

  /** The name of a device's file as the kernel shows it, if the file was deleted. */
  public static Optional<String> deletedName(Path device) {
    return backingName(device)
        .filter(name -> name.endsWith(DELETED))
        .map(LoopDevices::withoutDeleted);
  }

  /** The name of a file as the kernel shows it once the file is deleted. */
  public static String deleted(String name) {
    return name + DELETED;
  }

  /** The name of a backing file, without what the kernel adds to that of a deleted one. */
  public static String withoutDeleted(String name) {
    return name.endsWith(DELETED) ? name.substring(0, name.length() - DELETED.length()) : name;
  }

  private Optional<Loop> remembered(FileIdentity file) throws IOException {
    Path device = known.get(file);
    if (device == null) {
      return Optional.empty();
    }
    // it may show another file by now
    Optional<Loop> loop = examine(device).filter(there -> there.file().equals(file));
    if (loop.isEmpty()) {
      known.remove(file, device);
    }
    return loop;
  }

  /** A loop device keeps its file open, as other programs may do. */
  private static boolean isOpenElsewhere(Path file) {
    try (Descriptor open = Descriptor.open(file, Descriptor.O_RDONLY)) {
      return !open.isOnlyUser();
    } catch (ErrnoException e) {
      return true; // not all filesystems report it
    }
  }

  private Optional<Loop> examine(Path device) throws IOException {
    return kernel.status(device).map(status -> new Loop(device, status.file(), status.offset()));
  }

  /** All loop devices of this node that have a file. */
  public List<Loop> all() throws IOException {
    List<Loop> loops = new ArrayList<>();
    for (Path device : kernel.attached()) {
      examine(device).ifPresent(loops::add);
    }
    loops.forEach(loop -> known.putIfAbsent(loop.file(), loop.device()));
    return loops;
  }

  /** The loop device of a file from that offset on. */
  public Optional<Loop> find(Path file, long offset) throws IOException {
    return of(file).stream().filter(loop -> loop.offset() == offset).findFirst();
  }

  /** The loop device of a file from that offset on, attached if there is none. */
  public Path ensure(Path file, long offset) throws IOException {
    Optional<Loop> loop = find(file, offset);
    return loop.isPresent() ? loop.get().device() : attach(file, offset);
  }

  /** Attaches a file from that offset on to a loop device. */
  public Path attach(Path file, long offset) throws IOException {
    Path device = kernel.attach(file, offset);
    known.put(FileIdentity.of(file), device);
    return device;
  }

  /**
   * Detaches a loop device and waits until it is detached. Another program that has it open, as
   * those do that examine all devices of the node, keeps it attached for a moment.
   */
  public void detach(Path device) throws IOException {
    Optional<Loop> before = examine(device);
    detachHeld(device);
    long deadline = System.nanoTime() + Timeouts.LOOP_DETACH.toNanos();
    while (before.isPresent() && examine(device).equals(before) && System.nanoTime() < deadline) {
      LockSupport.parkNanos(RETRY_EVERY.toNanos());
    }
  }

  /** Detaches a loop device that the caller holds: it is detached when the caller releases it. */
  public void detachHeld(Path device) throws IOException {
    examine(device).ifPresent(loop -> known.remove(loop.file(), device));
    kernel.detach(device);
  }

  /** Makes a loop device as large as its file. */
  public void refreshSize(Path device) throws IOException {
    kernel.refreshSize(device);
  }

  /**
   * The name of a device's file as the kernel shows it, also of a file that was deleted. Not every
   * process sees a file by that name: to compare files, compare {@link Loop#file}.
   */
  public static Optional<String> backingName(Path device) {
    Path attribute = Path.of("/sys/block", device.getFileName().toString(), "loop/backing_file");
    try {
      byte[] name = Files.readAllBytes(attribute);
      return Optional.of(new String(name, StandardCharsets.UTF_8).stripTrailing());
    } catch (IOException e) {
      return Optional.empty(); // detached since
    }
  }
}
