package io.pmemcsi.base.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;

/**
 * One JSON object per line: {@code
 * {"ts":1700000000.123456,"caller":"log/File.java:42","msg":"…","v":3,"key":"value"}}, the form of
 * Kubernetes components. Errors and warnings carry {@code severity} in place of {@code v}.
 */
final class JsonLineEncoder extends EncoderBase<ILoggingEvent> {

  @Override
  public byte[] encode(ILoggingEvent event) {
    StringBuilder json = new StringBuilder(200);
    json.append("{\"ts\":").append(seconds(event));
    appendText(json.append(",\"caller\":"), caller());
    appendText(json.append(",\"msg\":"), event.getFormattedMessage());
    switch (event.getLevel().toInt()) {
      case Level.ERROR_INT -> json.append(",\"severity\":\"error\"");
      case Level.WARN_INT -> json.append(",\"severity\":\"warning\"");
      default -> json.append(",\"v\":").append(Verbosity.of(event.getLevel()));
    }
    KeyValues.of(event).forEach((key, value) -> appendPair(json, key, value));
    String stackTrace = KeyValues.stackTrace(event);
    if (stackTrace != null) {
      appendPair(json, "stacktrace", stackTrace);
    }
    return json.append("}\n").toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String seconds(ILoggingEvent event) {
    Instant instant = event.getInstant();
    Instant time = instant == null ? Instant.ofEpochMilli(event.getTimeStamp()) : instant;
    return String.format(Locale.ROOT, "%d.%06d", time.getEpochSecond(), time.getNano() / 1000);
  }

  private static String caller() {
    StackTraceElement caller = KeyValues.caller();
    String[] packages = caller.getClassName().split("\\.", -1);
    String directory = packages.length < 2 ? "" : packages[packages.length - 2] + "/";
    return directory + caller.getFileName() + ":" + caller.getLineNumber();
  }

  private static void appendPair(StringBuilder json, String key, Object value) {
    appendText(json.append(','), key);
    json.append(':');
    boolean plain =
        value instanceof Boolean
            || value instanceof Integer
            || value instanceof Long
            || (value instanceof Double number && Double.isFinite(number));
    if (plain) {
      json.append(value);
    } else {
      appendText(json, value.toString());
    }
  }

  private static void appendText(StringBuilder json, String text) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> json.append("\\\"");
        case '\\' -> json.append("\\\\");
        case '\n' -> json.append("\\n");
        case '\r' -> json.append("\\r");
        case '\t' -> json.append("\\t");
        default -> {
          if (c < ' ') {
            json.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
          } else {
            json.append(c);
          }
        }
      }
    }
    json.append('"');
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
