package io.pmemcsi.base.log;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Sends what libraries log through {@code java.util.logging}, as gRPC does, to the log of the
 * program: its format and its levels hold for them, too.
 */
final class JulBridge extends Handler {

  private final SimpleFormatter messages = new SimpleFormatter();

  /** Takes the place of the handler that prints to standard error. */
  static void install() {
    java.util.logging.Logger root = LogManager.getLogManager().getLogger("");
    for (Handler handler : root.getHandlers()) {
      root.removeHandler(handler);
    }
    root.addHandler(new JulBridge());
  }

  @Override
  public void publish(LogRecord event) {
    String name = event.getLoggerName();
    Logger log = LoggerFactory.getLogger(name == null ? Logger.ROOT_LOGGER_NAME : name);
    int level = event.getLevel().intValue();
    LoggingEventBuilder line =
        level >= Level.SEVERE.intValue()
            ? log.atError()
            : level >= Level.WARNING.intValue()
                ? log.atWarn()
                : level >= Level.INFO.intValue() ? log.atInfo() : log.atDebug();
    line.setCause(event.getThrown()).log(messages.formatMessage(event));
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
