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
 * The configuration file, read again whenever its content changes. It is polled instead of watched:
 * a mounted ConfigMap changes by the swap of a link two directories up, which no watch on the file
 * notices.
 */
public final class ConfigFile implements Supplier<OperatorConfig>, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ConfigFile.class);
  private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

  private final Path file;
  private final Thread watcher = Thread.ofVirtual().name("config-file").unstarted(this::poll);
  private String content;
  private boolean pending;
  private volatile OperatorConfig config;
  private volatile Optional<String> problem = Optional.empty();
  private volatile Runnable changed = () -> {};

  /**
   * Reads the file.
   *
   * @throws FatalException if it cannot be read or has invalid content
   */
  public ConfigFile(Path file) {
    this.file = file;
    try {
      this.content = BoundedText.read(file);
      this.config = ConfigReader.read(content);
    } catch (IOException e) {
      throw new FatalException(
          "configuration file %s cannot be read: %s; correct --config or leave it out"
              .formatted(file, Reason.of(e)),
          e);
    } catch (IllegalArgumentException e) {
      throw new FatalException("configuration file %s: %s".formatted(file, e.getMessage()), e);
    }
  }

  /** Starts to poll for changes, and reports each. */
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

  /** Why the operator does not use the current content of the file, if so. */
  public Optional<String> problem() {
    return problem;
  }

  private void poll() {
    try {
      while (true) {
        Thread.sleep(POLL_INTERVAL);
        check();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Catches everything, so that the next change is noticed. */
  private void check() {
    try {
      String now = BoundedText.read(file);
      if (!now.equals(content)) {
        take(ConfigReader.read(now));
        content = now;
      }
      if (pending) {
        changed.run();
        pending = false;
      }
      problem = Optional.empty();
    } catch (IOException e) {
      broken("cannot be read: " + Reason.of(e));
    } catch (IllegalArgumentException e) {
      broken(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      broken("cannot be applied, and is retried: " + e);
    }
  }

  private void take(OperatorConfig next) {
    if (!next.equals(config)) {
      config = next;
      pending = true;
      LOG.atInfo().addKeyValue("file", file).log("Configuration changed.");
    }
  }

  private void broken(String what) {
    if (!problem.equals(Optional.of(what))) {
      LOG.atError()
          .addKeyValue("file", file)
          .addKeyValue("problem", what)
          .log("The configuration file is invalid: the previous configuration stays.");
    }
    problem = Optional.of(what);
  }
}
