package io.pmemcsi.driver.json;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** A JSON value. Accessors that do not fit its type return nothing. */
public sealed interface Json {

  /** A value with keys, in their order. */
  record Fields(Map<String, Json> values) implements Json {
    public Fields {
      values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }
  }

  record Elements(List<Json> values) implements Json {
    public Elements {
      values = List.copyOf(values);
    }
  }

  record Text(String value) implements Json {}

  /** A number of any size. */
  record Numeric(BigDecimal value) implements Json {}

  /** Null, a boolean, or what is not there; the word for it, empty for the last. */
  record Other(String word) implements Json {}

  /** What is not there. */
  private static Json nothing() {
    return new Other("");
  }

  /**
   * Reads one value and nothing more. A key that comes twice is an error.
   *
   * @throws IOException with what is wrong and nothing else in its message
   */
  static Json parse(byte[] text) throws IOException {
    return parse(Reader.FACTORY.createParser(text));
  }

  /** The same for text that is decoded already. */
  static Json parse(String text) throws IOException {
    return parse(Reader.FACTORY.createParser(text));
  }

  private static Json parse(JsonParser open) throws IOException {
    try (JsonParser parser = open) {
      if (parser.nextToken() == null) {
        return nothing();
      }
      Json value = Reader.value(parser);
      if (parser.nextToken() != null) {
        throw new IOException("there is more after its end");
      }
      return value;
    } catch (JacksonException e) {
      // without it as the cause: its message also has the location in the source of the parser
      throw new IOException(e.getOriginalMessage());
    }
  }

  /** The value of a key. */
  default Json path(String key) {
    return this instanceof Fields(Map<String, Json> values)
        ? values.getOrDefault(key, nothing())
        : nothing();
  }

  /** The elements of a list; a value with keys is its own only element, as some tools see it. */
  default List<Json> elements() {
    return switch (this) {
      case Elements(List<Json> values) -> values;
      case Fields fields -> List.of(fields);
      case Text _, Numeric _, Other _ -> List.of();
    };
  }

  /** A text that is one. */
  default Optional<String> text() {
    return this instanceof Text(String value) ? Optional.of(value) : Optional.empty();
  }

  /** Anything simple as text; empty for what is not there. */
  default String asText() {
    return switch (this) {
      case Text(String value) -> value;
      case Numeric(BigDecimal value) -> value.toString(); // 1e999999999 written out is a gigabyte
      case Other(String word) -> word;
      case Fields _, Elements _ -> "";
    };
  }

  /** A whole number that fits, exactly. */
  default OptionalLong number() {
    try {
      return this instanceof Numeric(BigDecimal value)
          ? OptionalLong.of(value.longValueExact())
          : OptionalLong.empty();
    } catch (ArithmeticException e) {
      return OptionalLong.empty();
    }
  }

  /** Texts and numbers under their keys, on one line. */
  static String line(Map<String, ?> values) {
    StringWriter line = new StringWriter();
    try (JsonGenerator generator = Reader.FACTORY.createGenerator(line)) {
      Reader.write(generator, values);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return line + "\n";
  }

  /** The part that knows Jackson. */
  final class Reader {

    /** More than any tool needs, and less than the stack of a thread. */
    private static final int MAX_DEPTH = 50;

    private static final JsonFactory FACTORY =
        JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(
                StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
            .build();

    private Reader() {}

    private static Json value(JsonParser parser) throws IOException {
      return switch (parser.currentToken()) {
        case START_OBJECT -> fields(parser);
        case START_ARRAY -> elements(parser);
        case VALUE_STRING -> new Text(parser.getText());
        case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> new Numeric(parser.getDecimalValue());
        case VALUE_TRUE, VALUE_FALSE, VALUE_NULL -> new Other(parser.getText());
        case FIELD_NAME, END_OBJECT, END_ARRAY, VALUE_EMBEDDED_OBJECT, NOT_AVAILABLE ->
            throw new IOException("unexpected " + parser.currentToken());
      };
    }

    private static Json fields(JsonParser parser) throws IOException {
      Map<String, Json> values = new LinkedHashMap<>();
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String key = parser.currentName();
        parser.nextToken();
        values.put(key, value(parser));
      }
      return new Fields(values);
    }

    private static Json elements(JsonParser parser) throws IOException {
      List<Json> values = new ArrayList<>();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        values.add(value(parser));
      }
      return new Elements(values);
    }

    private static void write(JsonGenerator generator, Map<String, ?> values) throws IOException {
      generator.writeStartObject();
      for (Map.Entry<String, ?> field : values.entrySet()) {
        generator.writeFieldName(field.getKey());
        switch (field.getValue()) {
          case Map<?, ?> nested -> write(generator, texts(nested));
          case Long number -> generator.writeNumber(number);
          case Object text -> generator.writeString(text.toString());
        }
      }
      generator.writeEndObject();
    }

    private static Map<String, Object> texts(Map<?, ?> values) {
      Map<String, Object> texts = new LinkedHashMap<>();
      values.forEach((key, value) -> texts.put(String.valueOf(key), value));
      return texts;
    }
  }
}
