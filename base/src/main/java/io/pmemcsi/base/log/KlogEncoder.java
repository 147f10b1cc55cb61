package io.pmemcsi.base.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Lines as klog writes them: {@code I1115 22:07:04.123456 1234 File.java:42] message key="value"}.
 */
final class KlogEncoder extends EncoderBase<ILoggingEvent> {

  private final DateTimeFormatter time;
  private final String process;

  KlogEncoder(ZoneId zone, long processId) {
    this.time = DateTimeFormatter.ofPattern("MMdd HH:mm:ss.SSSSSS", Locale.ROOT).withZone(zone);
    this.process = String.format(Locale.ROOT, " %7d ", processId);
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    StackTraceElement caller = KeyValues.caller();
    StringBuilder line = new StringBuilder(160);
    Instant instant = event.getInstant();
    line.append(letter(event.getLevel()));
    time.formatTo(instant == null ? Instant.ofEpochMilli(event.getTimeStamp()) : instant, line);
    line.append(process);
    line.append(caller.getFileName()).append(':').append(caller.getLineNumber()).append("] ");
    line.append(escapeLineBreaks(event.getFormattedMessage()));
    KeyValues.of(event).forEach((key, value) -> appendPair(line, key, value));
    String stackTrace = KeyValues.stackTrace(event);
    if (stackTrace != null) {
      line.append('\n').append(stackTrace);
    }
    return line.append('\n').toString().getBytes(StandardCharsets.UTF_8);
  }

  private static char letter(Level level) {
    return switch (level.toInt()) {
      case Level.ERROR_INT -> 'E';
      case Level.WARN_INT -> 'W';
      default -> 'I';
    };
  }

  private static void appendPair(StringBuilder line, String key, Object value) {
    line.append(' ').append(key).append('=');
    if (value instanceof Number || value instanceof Boolean) {
      line.append(value);
    } else {
      String text = value.toString().replace("\\", "\\\\").replace("\"", "\\\"");
      line.append('"').append(escapeLineBreaks(text)).append('"');
    }
  }

  /** One event is one line, whatever a command printed. */
  private static String escapeLineBreaks(String text) {
    return text.replace("\r", "\\r").replace("\n", "\\n");
  }

  @Override
  public byte[] headerBytes() {
    return new byte[0];
  }

  @Override
  public byte[] footerBytes() {
    return new byte[0];
  }
}
