package io.pmemcsi.driver.linux.libc;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Calls functions of the C library.
 *
 * <p>All of them are called with the same six integer arguments, so that the JVM links one adapter
 * instead of one per function: it is slow to start otherwise. Integers and pointers travel in
 * registers on x86-64 and aarch64, and a function ignores registers beyond its own parameters.
 */
final class Libc {

  static final Function OPEN = Function.named("open");
  static final Function CLOSE = Function.named("close");
  static final Function FSYNC = Function.named("fsync");
  static final Function IOCTL = Function.named("ioctl");
  static final Function FCNTL = Function.named("fcntl");
  static final Function STATX = Function.named("statx");
  static final Function STATFS = Function.named("statfs");
  static final Function MOUNT = Function.named("mount");
  static final Function UMOUNT2 = Function.named("umount2");
  static final Function SYSCALL = Function.named("syscall");
  private static final Function STRERROR = Function.named("strerror");

  private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static final MethodHandle CALL = link();
  private static final int LONGEST_MESSAGE = 256;

  private Libc() {}

  /** A function by its address. */
  record Function(String name, MemorySegment address) {
    private static final SymbolLookup LIBRARY = Linker.nativeLinker().defaultLookup();

    static Function named(String name) {
      return new Function(name, LIBRARY.find(name).orElseThrow());
    }
  }

  /**
   * Calls a function that returns -1 and sets errno when it fails.
   *
   * @param call what it is called for, in messages
   */
  static long call(String call, Function function, long... arguments) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(CALL_STATE);
      long result = invoke(function, state, arguments);
      // functions that return an int leave the upper half of the register undefined
      if ((int) result == -1) {
        throw new ErrnoException(call, (int) ERRNO.get(state, 0L));
      }
      return result;
    }
  }

  /** What an error number means, in the words of the C library. */
  @SuppressWarnings("restricted")
  static String describe(int errno) {
    try (Arena arena = Arena.ofConfined()) {
      long text = invoke(STRERROR, arena.allocate(CALL_STATE), errno);
      return MemorySegment.ofAddress(text).reinterpret(LONGEST_MESSAGE).getString(0);
    }
  }

  private static long invoke(Function function, MemorySegment state, long... arguments) {
    long[] all = new long[6];
    System.arraycopy(arguments, 0, all, 0, arguments.length);
    try {
      return (long)
          CALL.invokeExact(
              function.address(), state, all[0], all[1], all[2], all[3], all[4], all[5]);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(function.name() + " cannot be called", e);
    }
  }

  @SuppressWarnings("restricted")
  private static MethodHandle link() {
    return Linker.nativeLinker()
        .downcallHandle(
            FunctionDescriptor.of(
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG),
            Linker.Option.captureCallState("errno"));
  }
}
