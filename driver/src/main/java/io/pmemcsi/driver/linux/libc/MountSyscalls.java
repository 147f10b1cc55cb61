package io.pmemcsi.driver.linux.libc;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/** The kernel's calls for mounts; see mount(2), umount2(2) and mount_setattr(2). */
public final class MountSyscalls {

  private static final int UMOUNT_NOFOLLOW = 8;
  private static final int FIFREEZE = 0xc0045877;
  private static final int FITHAW = 0xc0045878;

  private static final int AT_FDCWD = -100;
  private static final int AT_EMPTY_PATH = 0x1000;
  private static final int OPEN_TREE_CLONE = 1;
  private static final int OPEN_TREE_CLOEXEC = 0x80000;
  private static final int MOVE_MOUNT_F_EMPTY_PATH = 4;

  /** Numbers of calls that are newer than 2019 are the same on every architecture. */
  private static final int SYS_OPEN_TREE = 428;

  private static final int SYS_MOVE_MOUNT = 429;
  private static final int SYS_MOUNT_SETATTR = 442;

  /** struct mount_attr: attr_set, attr_clr, propagation, userns_fd. */
  private static final int MOUNT_ATTR_SIZE = 4 * Long.BYTES;

  private MountSyscalls() {}

  /** mount(2). */
  public static void mount(Path source, Path target, String type, long flags, String data)
      throws IOException {
    // replaying a log may take long
    Blocking.call(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            return Libc.call(
                "mount(2) at " + target,
                Libc.MOUNT,
                text(arena, source.toString()),
                text(arena, target.toString()),
                text(arena, type),
                flags,
                text(arena, data));
          }
        });
  }

  /** umount2(2), which never follows a link. */
  public static void unmount(Path target) throws IOException {
    Blocking.call(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            return Libc.call(
                "umount2(2) at " + target,
                Libc.UMOUNT2,
                text(arena, target.toString()),
                UMOUNT_NOFOLLOW);
          }
        });
  }

  /** FIFREEZE; returns false if the filesystem was frozen already. */
  public static boolean freeze(Path mountPoint) throws IOException {
    // waits for writes
    return Blocking.call(
        () -> {
          try (Descriptor open = Descriptor.open(mountPoint, Descriptor.O_RDONLY)) {
            open.ioctl("FIFREEZE", FIFREEZE, 0);
            return true;
          } catch (ErrnoException e) {
            if (e.errno() == Errno.EBUSY) {
              return false;
            }
            throw e;
          }
        });
  }

  /** FITHAW; a filesystem that is not frozen stays as it is. */
  public static void thaw(Path mountPoint) throws IOException {
    try (Descriptor open = Descriptor.open(mountPoint, Descriptor.O_RDONLY)) {
      open.ioctl("FITHAW", FITHAW, 0);
    } catch (ErrnoException e) {
      if (e.errno() != Errno.EINVAL) {
        throw e;
      }
    }
  }

  /** A copy of the mount at a path that is not attached anywhere yet; closing it discards it. */
  public static Descriptor cloneTree(Path source) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      long fd =
          Libc.call(
              "open_tree(2) of " + source,
              Libc.SYSCALL,
              SYS_OPEN_TREE,
              AT_FDCWD,
              text(arena, source.toString()),
              OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
      return new Descriptor((int) fd, "mount of " + source);
    }
  }

  /** Sets and clears attributes of a mount that {@link #cloneTree} has made. */
  public static void setAttributes(Descriptor mount, long set, long clear) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(MOUNT_ATTR_SIZE, Long.BYTES);
      attributes.setAtIndex(ValueLayout.JAVA_LONG, 0, set);
      attributes.setAtIndex(ValueLayout.JAVA_LONG, 1, clear);
      Libc.call(
          "mount_setattr(2)",
          Libc.SYSCALL,
          SYS_MOUNT_SETATTR,
          mount.number(),
          text(arena, ""),
          AT_EMPTY_PATH,
          attributes.address(),
          attributes.byteSize());
    }
  }

  /** Attaches a mount that {@link #cloneTree} has made; its peers get it as it is now. */
  public static void attach(Descriptor mount, Path target) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      Libc.call(
          "move_mount(2) to " + target,
          Libc.SYSCALL,
          SYS_MOVE_MOUNT,
          mount.number(),
          text(arena, ""),
          AT_FDCWD,
          text(arena, target.toString()),
          MOVE_MOUNT_F_EMPTY_PATH);
    }
  }

  private static long text(Arena arena, String text) {
    return arena.allocateFrom(text).address();
  }
}
