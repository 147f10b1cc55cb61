package io.pmemcsi.operator.generic;

import io.pmemcsi.base.error.FatalException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration file, read again whenever its content changes. It is looked at instead of
 * watched: a mounted ConfigMap changes by the swap of a link two folders up, which no watch on the
 * file notices.
 */
public final class ConfigFile implements Supplier<OperatorConfig>, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ConfigFile.class);
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final Path file;
  private final Thread watcher =
      Thread.ofVirtual().name("config-file").unstarted(this::keepLooking);
  private String seen;
  private volatile OperatorConfig config;
  private volatile Runnable changed = () -> {};

  /**
   * Reads the file.
   *
   * @throws FatalException if it cannot be read or says something that has no meaning
   */
  public ConfigFile(Path file) {
    this.file = file;
    try {
      this.seen = Files.readString(file);
      this.config = ConfigReader.read(seen);
    } catch (IOException e) {
      throw new FatalException(
          "configuration file %s cannot be read: %s; correct --config or leave it out"
              .formatted(file, e),
          e);
    } catch (IllegalArgumentException e) {
      throw new FatalException("configuration file %s: %s".formatted(file, e.getMessage()), e);
    }
  }

  /** Starts to look for changes, and says when there was one. */
  public void onChange(Runnable action) {
    changed = action;
    watcher.start();
  }

  @Override
  public OperatorConfig get() {
    return config;
  }

  @Override
  public void close() {
    watcher.interrupt();
  }

  private void keepLooking() {
    try {
      while (true) {
        Thread.sleep(LOOK);
        look();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    String now;
    try {
      now = Files.readString(file);
    } catch (IOException e) {
      now = "";
      if (!seen.isEmpty()) {
        broken("cannot be read: " + e);
      }
      seen = now;
      return;
    }
    if (now.equals(seen)) {
      return;
    }
    seen = now;
    try {
      OperatorConfig next = ConfigReader.read(now);
      if (!next.equals(config)) {
        config = next;
        LOG.atInfo().addKeyValue("file", file).log("Configuration changed.");
        changed.run();
      }
    } catch (IllegalArgumentException e) {
      broken(String.valueOf(e.getMessage()));
    }
  }

  private void broken(String problem) {
    LOG.atError()
        .addKeyValue("file", file)
        .addKeyValue("problem", problem)
        .log("The configuration file is wrong: the configuration from before stays.");
  }
}
