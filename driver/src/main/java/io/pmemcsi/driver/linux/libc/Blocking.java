package io.pmemcsi.driver.linux.libc;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Runs system calls that may take long on a platform thread. A virtual thread inside a system call
 * keeps its carrier, and all CSI calls share a few of those.
 */
public final class Blocking {

  /**
   * As many threads as there are calls at the same time; starting one costs more than most calls.
   */
  private static final ExecutorService THREADS =
      Executors.newCachedThreadPool(Thread.ofPlatform().daemon().name("system-call-", 1).factory());

  private Blocking() {}

  /** One or more system calls. */
  @FunctionalInterface
  public interface Call<T> {
    T run() throws IOException;
  }

  public static <T> T call(Call<T> call) throws IOException {
    if (!Thread.currentThread().isVirtual()) {
      return call.run();
    }
    CompletableFuture<T> result = new CompletableFuture<>();
    THREADS.execute(
        () -> {
          try {
            result.complete(call.run());
          } catch (IOException | RuntimeException | Error e) {
            result.completeExceptionally(e);
          }
        });
    try {
      return result.join();
    } catch (CompletionException e) {
      switch (e.getCause()) {
        case IOException refused -> throw refused;
        case RuntimeException failed -> throw failed;
        case Error failed -> throw failed;
        case null, default -> throw e;
      }
    }
  }
}
