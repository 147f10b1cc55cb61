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

  /** Where the event was written: the last part of the package, the file and the line. */
  static StackTraceElement caller(ILoggingEvent event) {
    StackTraceElement[] callers = event.getCallerData();
    return callers.length == 0 ? new StackTraceElement("?", "?", "unknown", 0) : callers[0];
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
