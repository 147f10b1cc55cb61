package io.pmemcsi.driver.device.file;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.BlockCopier;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import io.pmemcsi.driver.linux.libc.FileSpace;
import io.pmemcsi.driver.linux.loop.FileIdentity;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.loop.LoopDevices.Loop;
import io.pmemcsi.driver.state.StateDirectory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Volumes as sparse files in the directory {@code devices} of the state directory.
 *
 * <p>The full size of a file counts as used although it takes no space yet. That is arithmetic of
 * this driver: other programs can fill the filesystem all the same. Erasing means removing: the
 * filesystem below returns freed blocks as zeros only.
 */
public final class FileDevices implements DeviceManager {

  /** The same as in LVM mode, so that sizes are the same. */
  static final long ALIGNMENT = 4L << 20;

  private static final String SUFFIX = ".img";

  private final Path stateDirectory;
  private final Path directory;
  private final LoopDevices loops;
  private final Pool pool;
  private final Object reservation = new Object();
  private final ReservedSpace reservedSpace = new ReservedSpace(this::files);

  /** How much space there is for files. */
  public sealed interface Pool {

    /** A share of the filesystem below the state directory, never more than is really free. */
    record Percentage(int percent) implements Pool {
      public Percentage {
        if (percent < 0 || percent > 100) {
          throw new IllegalArgumentException(
              "pmemPercentage %d is not between 0 and 100".formatted(percent));
        }
      }
    }

    /** A pretended size: the files may together be larger than the disk. */
    record Fixed(long bytes) implements Pool {}
  }

  public FileDevices(Path stateDirectory, Pool pool, LoopDevices loops) {
    this.stateDirectory = stateDirectory.toAbsolutePath();
    this.directory = StateDirectory.Part.DEVICES.in(this.stateDirectory);
    this.loops = loops;
    this.pool = pool;
  }

  @Override
  public DeviceMode mode() {
    return DeviceMode.FILE;
  }

  @Override
  public Capacity capacity() {
    return run("measure " + directory, this::measure);
  }

  @Override
  public List<Device> list() {
    return run(
        "list " + directory,
        () -> {
          List<Path> files = files();
          if (files.isEmpty()) {
            return List.of();
          }
          Map<FileIdentity, Path> attached =
              loops.all().stream()
                  .collect(Collectors.toMap(Loop::file, Loop::device, (first, _) -> first));
          List<Device> devices = new ArrayList<>();
          for (Path file : files) {
            // a file that is not attached stands for its device: attaching it would only cost time
            Path path = attached.getOrDefault(FileIdentity.of(file), file);
            long size = Files.size(file);
            VolumeId.parse(nameOf(file)).ifPresent(id -> devices.add(new Device(id, path, size)));
          }
          return devices;
        });
  }

  @Override
  public boolean exists(VolumeId id) {
    return Files.exists(file(id));
  }

  @Override
  public List<String> unavailablePools() {
    return List.of();
  }

  @Override
  public Optional<Device> find(VolumeId id) {
    Path file = file(id);
    return run(
        "find the device of volume " + id,
        () ->
            Files.exists(file)
                ? Optional.of(new Device(id, attached(file), Files.size(file)))
                : Optional.empty());
  }

  /** The loop device of a file that another program has removed. */
  @Override
  public Optional<Device> remains(VolumeId id) {
    Path file = file(id);
    return run(
        "find the loop device of volume " + id,
        () ->
            Files.exists(file)
                ? Optional.<Device>empty()
                : loops.ofDeleted(file).stream()
                    .map(loop -> new Device(id, loop.device(), 0))
                    .findFirst());
  }

  @Override
  public Device create(VolumeId id, long sizeBytes, AccessModel accessModel, OptionalInt numaNode) {
    if (numaNode.isPresent()) {
      throw new DeviceException.Unsupported(
          DeviceMode.FILE,
          "the parameter \"numaNode\" (%d): leave it out".formatted(numaNode.getAsInt()));
    }
    Path file = file(id);
    return run(
        "create the device of volume " + id,
        () -> {
          long size = reserve(id, file, sizeBytes);
          sync(file);
          // no other process can have attached a file that is new
          return new Device(id, loops.attach(file, 0), size);
        });
  }

  @Override
  public void delete(VolumeId id, boolean erase) {
    Path file = file(id);
    run(
        "delete the device of volume " + id,
        () -> {
          if (Files.exists(file)) {
            detach(id, file);
            // another program may have attached it as well
            detach(id, file);
            Files.delete(file);
            reservedSpace.changed(file);
          } else {
            for (Loop loop : loops.ofDeleted(file)) {
              release(id, loop.device());
            }
          }
          return file;
        });
  }

  /**
   * Shares the blocks of the files where the filesystem below can, else writes what is not zero.
   */
  @Override
  public void copy(Device from, Device to) throws IOException {
    Path source = file(from.id());
    if (Files.exists(source) && FileSpace.reflink(source, file(to.id()))) {
      // the loop device may have cached what its file held before
      BlockDevices.dropCache(to.path());
    } else {
      // a copy that was interrupted has left a file that is not blank
      boolean blank = FileSpace.allocatedBytes(file(to.id())) == 0;
      BlockCopier.copy(from, to, blank);
    }
    reservedSpace.changed(file(to.id()));
  }

  @Override
  public long roundedSize(VolumeId id, long sizeBytes) {
    return roundUp(sizeBytes);
  }

  @Override
  public Device expand(VolumeId id, long sizeBytes) {
    Path file = file(id);
    return run(
        "expand the device of volume " + id,
        () -> {
          if (!Files.exists(file)) {
            throw new DeviceException.NotFound(id);
          }
          synchronized (reservation) {
            long requested = roundUp(sizeBytes);
            long more = requested - Files.size(file);
            if (more > 0) {
              requireSpace(more, requested);
              setLength(file, requested);
              reservedSpace.changed(file);
            }
          }
          sync(file);
          Path device = attached(file);
          // also when the file was large enough: an earlier attempt may have ended before this
          loops.refreshSize(device);
          return new Device(id, device, Files.size(file));
        });
  }

  private long reserve(VolumeId id, Path file, long sizeBytes) throws IOException {
    synchronized (reservation) {
      if (Files.exists(file)) {
        throw new DeviceException.Exists(id, Files.size(file));
      }
      StateDirectory.createInside(directory);
      long size = roundUp(sizeBytes);
      requireSpace(size, sizeBytes);
      Files.createFile(file, StateDirectory.ownerOnly());
      setLength(file, size);
      reservedSpace.changed(file);
      return size;
    }
  }

  private void requireSpace(long more, long requested) throws IOException {
    long free = measure().maxVolumeSize();
    if (more > free) {
      reservedSpace.invalidate();
      free = measure().maxVolumeSize();
    }
    if (more < 0 || more > free) {
      throw new DeviceException.NotEnoughSpace(requested, free);
    }
  }

  private Path attached(Path file) throws IOException {
    return loops.ensure(file, 0);
  }

  private void detach(VolumeId id, Path file) throws IOException {
    for (Loop loop : loops.of(file)) {
      release(id, loop.device());
    }
  }

  private void release(VolumeId id, Path device) throws IOException {
    try (BlockDevices.Hold _ = BlockDevices.holdExclusively(device)) {
      loops.detachHeld(device);
    } catch (BlockDevices.BusyException e) {
      throw new DeviceException.InUse(id, String.valueOf(e.getMessage()));
    }
  }

  private Capacity measure() throws IOException {
    ReservedSpace.Sum reserved = reservedSpace.sum();
    return switch (pool) {
      case Pool.Fixed(long bytes) -> capacity(bytes - reserved.bytes(), bytes, bytes);
      case Pool.Percentage(int percent) -> {
        FileSpace.Filesystem disk = FileSpace.of(stateDirectory);
        long total = disk.totalBytes();
        long managed = total / 100 * percent;
        // what sparse files have not allocated yet is promised to them
        long free = disk.availableBytes() - reserved.unallocated();
        yield capacity(Math.min(managed - reserved.bytes(), free), managed, total);
      }
    };
  }

  private static Capacity capacity(long free, long managed, long total) {
    long available = Math.max(0, free - Math.floorMod(free, ALIGNMENT));
    return new Capacity(available, available, managed, total);
  }

  private List<Path> files() throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(directory)) {
      return all.filter(file -> file.getFileName().toString().endsWith(SUFFIX))
          .filter(file -> Files.isRegularFile(file, NOFOLLOW_LINKS))
          .sorted()
          .toList();
    }
  }

  private Path file(VolumeId id) {
    return directory.resolve(id + SUFFIX);
  }

  private static String nameOf(Path file) {
    String name = file.getFileName().toString();
    return name.substring(0, name.length() - SUFFIX.length());
  }

  private static void setLength(Path file, long bytes) throws IOException {
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(bytes);
    }
  }

  /** Not while others wait for their reservation: it takes longest of all. */
  private static void sync(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  private static long roundUp(long bytes) {
    long units = Math.max(1, Math.ceilDiv(bytes, ALIGNMENT));
    // sizes close to the largest number wrap around otherwise; they fit nowhere in any case
    return units > Long.MAX_VALUE / ALIGNMENT ? Long.MAX_VALUE : units * ALIGNMENT;
  }

  private interface Action<T> {
    T run() throws IOException;
  }

  private static <T> T run(String operation, Action<T> action) {
    try {
      return action.run();
    } catch (ToolFailedException e) {
      throw new DeviceException.ToolFailed(operation, e);
    } catch (IOException e) {
      throw new DeviceException.ToolFailed(operation, e);
    }
  }
}
