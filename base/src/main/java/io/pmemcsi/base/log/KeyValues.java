package io.pmemcsi.base.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.KeyValuePair;

/** What an event carries besides its message. */
final class KeyValues {

  private KeyValues() {}

  /** The pairs in the order in which they were given, those of the surrounding work first. */
  static Map<String, Object> of(ILoggingEvent event) {
    Map<String, Object> all = new LinkedHashMap<>(event.getMDCPropertyMap());
    List<KeyValuePair> pairs = event.getKeyValuePairs();
    if (pairs != null) {
      for (KeyValuePair pair : pairs) {
        all.put(pair.key, pair.value == null ? "<none>" : pair.value);
      }
    }
    IThrowableProxy thrown = event.getThrowableProxy();
    if (thrown != null) {
      all.putIfAbsent("err", describe(thrown));
    }
    return all;
  }

  /** The stack trace, for errors only: elsewhere the description says enough. */
  static @Nullable String stackTrace(ILoggingEvent event) {
    IThrowableProxy thrown = event.getThrowableProxy();
    boolean shown = event.getLevel().isGreaterOrEqual(ch.qos.logback.classic.Level.ERROR);
    return thrown == null || !shown ? null : ThrowableProxyUtil.asString(thrown).strip();
  }

  /**
   * Where the event that is being encoded was written. Logback would build the whole stack trace,
   * which costs more than all the rest of a line.
   */
  static StackTraceElement caller() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .dropWhile(frame -> !isLogging(frame)) // the encoder
                    .dropWhile(KeyValues::isLogging)
                    .findFirst()
                    .map(StackWalker.StackFrame::toStackTraceElement))
        .orElseGet(() -> new StackTraceElement("?", "?", "unknown", 0));
  }

  private static boolean isLogging(StackWalker.StackFrame frame) {
    String name = frame.getClassName();
    return name.startsWith("ch.qos.logback.") || name.startsWith("org.slf4j.");
  }

  private static String describe(IThrowableProxy thrown) {
    String message = thrown.getMessage();
    String name = thrown.getClassName();
    String shortName = name.substring(name.lastIndexOf('.') + 1);
    String own = message == null || message.isBlank() ? shortName : shortName + ": " + message;
    IThrowableProxy cause = thrown.getCause();
    return cause == null || own.contains(String.valueOf(cause.getMessage()))
        ? own
        : own + ": " + describe(cause);
  }
}
