package csi.v1;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.GenericDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** All that decides what the bytes of a call are, a line for each fact as csi-wire.txt has them. */
final class WireFacts {

  private WireFacts() {}

  static List<String> of(FileDescriptor file) {
    return Stream.of(
            file.getMessageTypes().stream().flatMap(WireFacts::ofMessage),
            file.getEnumTypes().stream().flatMap(WireFacts::ofEnum),
            file.getServices().stream().flatMap(WireFacts::ofService))
        .flatMap(facts -> facts)
        .toList();
  }

  private static Stream<String> ofMessage(Descriptor message) {
    Stream<String> fields =
        message.getFields().isEmpty()
            ? Stream.of(name(message) + " empty")
            : message.getFields().stream().map(WireFacts::ofField);
    Stream<String> nested =
        message.getNestedTypes().stream()
            .filter(type -> !type.getOptions().getMapEntry())
            .flatMap(WireFacts::ofMessage);
    Stream<String> enums = message.getEnumTypes().stream().flatMap(WireFacts::ofEnum);
    return Stream.of(fields, nested, enums).flatMap(facts -> facts);
  }

  private static String ofField(FieldDescriptor field) {
    return "%s %d %s %s".formatted(name(field), field.getNumber(), type(field), label(field));
  }

  private static String label(FieldDescriptor field) {
    if (field.isMapField()) {
      return "map";
    }
    if (field.isRepeated()) {
      return "repeated";
    }
    OneofDescriptor oneof = field.getRealContainingOneof();
    return oneof == null ? "single" : "oneof=" + oneof.getName();
  }

  private static String type(FieldDescriptor field) {
    if (field.isMapField()) {
      Descriptor entry = field.getMessageType();
      return "map<%s,%s>"
          .formatted(type(entry.findFieldByNumber(1)), type(entry.findFieldByNumber(2)));
    }
    return switch (field.getJavaType()) {
      case MESSAGE -> name(field.getMessageType());
      case ENUM -> name(field.getEnumType());
      case INT, LONG, FLOAT, DOUBLE, BOOLEAN, STRING, BYTE_STRING ->
          field.getType().name().toLowerCase(Locale.ROOT);
    };
  }

  private static Stream<String> ofEnum(EnumDescriptor type) {
    return type.getValues().stream()
        .map(value -> "%s.%s %d value".formatted(name(type), value.getName(), value.getNumber()));
  }

  private static Stream<String> ofService(ServiceDescriptor service) {
    return service.getMethods().stream().map(WireFacts::ofMethod);
  }

  private static String ofMethod(MethodDescriptor method) {
    return "%s/%s %s %s %s"
        .formatted(
            name(method.getService()),
            method.getName(),
            name(method.getInputType()),
            name(method.getOutputType()),
            method.isServerStreaming() || method.isClientStreaming() ? "stream" : "unary");
  }

  private static String name(GenericDescriptor described) {
    return described.getFullName().replace("csi.v1.", "");
  }
}
