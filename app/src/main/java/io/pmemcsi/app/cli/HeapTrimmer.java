package io.pmemcsi.app.cli;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.time.Duration;
import java.util.Optional;

/**
 * Returns memory that is no longer used to the machine. The serial collector does not collect the
 * old generation before it has grown to its limit, and the garbage of the start, or of many
 * resources that settle at once, would stay resident until then.
 */
final class HeapTrimmer implements AutoCloseable {

  private static final Duration INTERVAL = Duration.ofSeconds(5);
  private static final long WORTHWHILE_BYTES = 6L << 20;

  private final Optional<MemoryPoolMXBean> old =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(pool -> pool.getName().equals("Tenured Gen"))
          .findFirst();
  private final Thread thread = Thread.ofVirtual().name("heap-trimmer").unstarted(this::run);

  /** Does nothing with another collector. */
  void start() {
    if (old.isPresent()) {
      thread.start();
    }
  }

  private void run() {
    try {
      long live = 0;
      while (true) {
        Thread.sleep(INTERVAL);
        if (used() - live > WORTHWHILE_BYTES) {
          System.gc();
          live = used();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private long used() {
    return old.orElseThrow().getUsage().getUsed();
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
