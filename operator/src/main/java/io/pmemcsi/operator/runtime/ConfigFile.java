package io.pmemcsi.operator.runtime;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.file.BoundedText;
import io.pmemcsi.operator.kinds.template.ConfigReader;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
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
  private boolean untold;
  private volatile OperatorConfig config;
  private volatile Optional<String> problem = Optional.empty();
  private volatile Runnable changed = () -> {};

  /**
   * Reads the file.
   *
   * @throws FatalException if it cannot be read or says something that has no meaning
   */
  public ConfigFile(Path file) {
    this.file = file;
    try {
      this.seen = BoundedText.read(file);
      this.config = ConfigReader.read(seen);
    } catch (IOException e) {
      throw new FatalException(
          "configuration file %s cannot be read: %s; correct --config or leave it out"
              .formatted(file, Reason.of(e)),
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

  /** Why the file is not what the operator works with, if that is so. */
  public Optional<String> problem() {
    return problem;
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

  /** Whatever happens, the next change must be seen. */
  private void look() {
    try {
      String now = BoundedText.read(file);
      if (!now.equals(seen)) {
        take(ConfigReader.read(now));
        seen = now;
      }
      if (untold) {
        changed.run();
        untold = false;
      }
      problem = Optional.empty();
    } catch (IOException e) {
      broken("cannot be read: " + Reason.of(e));
    } catch (IllegalArgumentException e) {
      broken(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      broken("cannot be carried out, and is tried again: " + e);
    }
  }

  private void take(OperatorConfig next) {
    if (!next.equals(config)) {
      config = next;
      untold = true;
      LOG.atInfo().addKeyValue("file", file).log("Configuration changed.");
    }
  }

  private void broken(String what) {
    if (!problem.equals(Optional.of(what))) {
      LOG.atError()
          .addKeyValue("file", file)
          .addKeyValue("problem", what)
          .log("The configuration file is wrong: the configuration from before stays.");
    }
    problem = Optional.of(what);
  }
}
