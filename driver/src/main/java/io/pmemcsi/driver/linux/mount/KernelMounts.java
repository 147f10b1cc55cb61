package io.pmemcsi.driver.linux.mount;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** The calls of the running kernel. */
public final class KernelMounts implements MountCalls {

  private static final int UMOUNT_NOFOLLOW = 8;

  /** A call of the C library that answers 0, or sets errno. */
  @FunctionalInterface
  private interface Call {
    int run(MemorySegment state, Arena arena) throws Throwable;
  }

  @Override
  public void mount(Path source, Path target, String type, MountOptions options)
      throws IOException {
    call(
        "mount(2) at " + target,
        (state, arena) ->
            (int)
                Libc.MOUNT.invokeExact(
                    state,
                    arena.allocateFrom(source.toString()),
                    arena.allocateFrom(target.toString()),
                    arena.allocateFrom(type),
                    options.flags(),
                    arena.allocateFrom(options.data())));
  }

  @Override
  public void unmount(Path target) throws IOException {
    call(
        "umount2(2) at " + target,
        (state, arena) ->
            (int)
                Libc.UMOUNT2.invokeExact(
                    state, arena.allocateFrom(target.toString()), UMOUNT_NOFOLLOW));
  }

  /**
   * Mounting may replay a log, which takes long. A virtual thread would keep one of the few threads
   * that carry all calls, so the kernel gets a thread of its own.
   */
  private static void call(String doing, Call call) throws IOException {
    int errno;
    try {
      errno =
          CompletableFuture.supplyAsync(
                  () -> errno(call), task -> Thread.ofPlatform().name("mount").start(task))
              .join();
    } catch (CompletionException e) {
      throw new IllegalStateException(doing + " cannot be called", e.getCause());
    }
    if (errno != 0) {
      throw new IOException("%s: error number %d".formatted(doing, errno));
    }
  }

  private static int errno(Call call) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(Libc.CALL_STATE);
      return call.run(state, arena) == 0 ? 0 : (int) Libc.ERRNO.get(state, 0L);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("the C library cannot be called", e);
    }
  }

  /** The way to the kernel; linked when it is first needed, which takes a moment. */
  private static final class Libc {
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
        CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle MOUNT =
        handle(
            "mount",
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG,
                ValueLayout.ADDRESS));
    private static final MethodHandle UMOUNT2 =
        handle(
            "umount2",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));

    private Libc() {}

    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, FunctionDescriptor signature) {
      Linker linker = Linker.nativeLinker();
      return linker.downcallHandle(
          linker.defaultLookup().find(name).orElseThrow(),
          signature,
          Linker.Option.captureCallState("errno"));
    }
  }
}
