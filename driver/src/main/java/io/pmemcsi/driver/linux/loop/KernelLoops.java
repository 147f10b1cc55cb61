package io.pmemcsi.driver.linux.loop;

import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.libc.Blocking;
import io.pmemcsi.driver.linux.libc.Descriptor;
import io.pmemcsi.driver.linux.libc.Errno;
import io.pmemcsi.driver.linux.libc.ErrnoException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/** The loop devices of the running kernel. */
public final class KernelLoops implements LoopCalls {

  private static final Path CONTROL = Path.of("/dev/loop-control");
  private static final Path DEVICES = Path.of("/dev");
  private static final Path SYSFS = Path.of("/sys/block");

  private static final int LOOP_SET_FD = 0x4c00;
  private static final int LOOP_CLR_FD = 0x4c01;
  private static final int LOOP_SET_STATUS64 = 0x4c04;
  private static final int LOOP_GET_STATUS64 = 0x4c05;
  private static final int LOOP_SET_CAPACITY = 0x4c07;
  private static final int LOOP_SET_DIRECT_IO = 0x4c08;
  private static final int LOOP_CONFIGURE = 0x4c0a;
  private static final int LOOP_CTL_GET_FREE = 0x4c82;

  /** Other programs attach devices as well, and the kernel names a free one to all who ask. */
  private static final int ATTEMPTS = 64;

  private final ReentrantLock attaching = new ReentrantLock();
  private final boolean hasConfigure;

  public KernelLoops() {
    this(true);
  }

  /**
   * @param hasConfigure whether to try LOOP_CONFIGURE, which kernels before 5.8 do not have
   */
  KernelLoops(boolean hasConfigure) {
    this.hasConfigure = hasConfigure;
  }

  @Override
  public Path attach(Path file, long offset) throws IOException {
    // one at a time: the kernel would name the same free device to all who ask at once
    boolean alone = isMyTurn();
    try {
      return Blocking.call(() -> attachToFree(file, offset));
    } finally {
      if (alone) {
        attaching.unlock();
      }
    }
  }

  private boolean isMyTurn() {
    try {
      return attaching.tryLock(Timeouts.LOOP_ATTACH.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private Path attachToFree(Path file, long offset) throws IOException {
    try (Descriptor control = Descriptor.open(CONTROL, Descriptor.O_RDWR);
        Descriptor backing = Descriptor.open(file, Descriptor.O_RDWR)) {
      for (int attempt = 1; ; attempt++) {
        int number = control.ioctl("LOOP_CTL_GET_FREE", LOOP_CTL_GET_FREE, 0);
        Path device = DEVICES.resolve("loop" + number);
        try (Descriptor loop = Descriptor.open(device, Descriptor.O_RDWR)) {
          configure(loop, backing, file, offset);
          return device;
        } catch (ErrnoException e) {
          if (e.errno() != Errno.EBUSY || attempt == ATTEMPTS) {
            throw e;
          }
        }
      }
    }
  }

  private void configure(Descriptor loop, Descriptor backing, Path file, long offset)
      throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      if (hasConfigure) {
        try {
          MemorySegment config = LoopStructs.config(arena, backing.number(), file, offset);
          loop.ioctl("LOOP_CONFIGURE", LOOP_CONFIGURE, config);
          return;
        } catch (ErrnoException e) {
          if (e.errno() != Errno.EINVAL && e.errno() != Errno.ENOTTY) {
            throw e;
          }
        }
      }
      configureInSteps(arena, loop, backing, file, offset);
    }
  }

  /** The way of kernels before 5.8. */
  private static void configureInSteps(
      Arena arena, Descriptor loop, Descriptor backing, Path file, long offset)
      throws ErrnoException {
    loop.ioctl("LOOP_SET_FD", LOOP_SET_FD, backing.number());
    try {
      loop.ioctl("LOOP_SET_STATUS64", LOOP_SET_STATUS64, LoopStructs.info(arena, file, offset));
    } catch (ErrnoException e) {
      loop.ioctl("LOOP_CLR_FD", LOOP_CLR_FD, 0);
      throw e;
    }
    try {
      loop.ioctl("LOOP_SET_DIRECT_IO", LOOP_SET_DIRECT_IO, 1);
    } catch (ErrnoException e) {
      // the filesystem of the file cannot do it: LOOP_CONFIGURE ignores that as well
    }
  }

  @Override
  public void detach(Path device) throws IOException {
    // closing it writes back what is in its cache
    Blocking.call(
        () -> {
          try (Descriptor loop = Descriptor.open(device, Descriptor.O_RDONLY)) {
            return loop.ioctl("LOOP_CLR_FD", LOOP_CLR_FD, 0);
          } catch (ErrnoException e) {
            if (e.errno() == Errno.ENXIO) {
              return 0; // it has no file any more
            }
            throw e;
          }
        });
  }

  @Override
  public void refreshSize(Path device) throws IOException {
    try (Descriptor loop = Descriptor.open(device, Descriptor.O_RDONLY)) {
      loop.ioctl("LOOP_SET_CAPACITY", LOOP_SET_CAPACITY, 0);
    }
  }

  @Override
  public Optional<Status> status(Path device) throws IOException {
    try (Arena arena = Arena.ofConfined();
        Descriptor loop = Descriptor.open(device, Descriptor.O_RDONLY)) {
      MemorySegment info = LoopStructs.info(arena);
      loop.ioctl("LOOP_GET_STATUS64", LOOP_GET_STATUS64, info);
      return Optional.of(LoopStructs.status(info));
    } catch (ErrnoException e) {
      return switch (e.errno()) {
        // no file, or no such device any more
        case Errno.ENXIO, Errno.ENOENT -> Optional.empty();
        default -> throw e;
      };
    }
  }

  @Override
  public List<Path> attached() throws IOException {
    try (Stream<Path> all = Files.list(SYSFS)) {
      return all.filter(device -> Files.exists(device.resolve("loop")))
          .map(device -> DEVICES.resolve(device.getFileName()))
          .sorted()
          .toList();
    }
  }
}
