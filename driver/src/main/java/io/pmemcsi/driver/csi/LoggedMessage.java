package io.pmemcsi.driver.csi;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import csi.v1.CsiProto;

/** A message as text for the log; put together only when it is printed, and without secrets. */
record LoggedMessage(Message message) {

  /** A list of a thousand volumes is longer and of no use in a log. */
  private static final int MAX_LENGTH = 16 << 10;

  static LoggedMessage of(Message message) {
    return new LoggedMessage(message);
  }

  @Override
  public String toString() {
    Message.Builder open = message.toBuilder();
    for (FieldDescriptor field : message.getAllFields().keySet()) {
      if (field.getOptions().getExtension(CsiProto.csiSecret)) {
        open.clearField(field);
      }
    }
    String text = TextFormat.printer().emittingSingleLine(true).printToString(open.build());
    return text.length() <= MAX_LENGTH
        ? text
        : "%s... (%d characters)".formatted(text.substring(0, MAX_LENGTH), text.length());
  }
}
