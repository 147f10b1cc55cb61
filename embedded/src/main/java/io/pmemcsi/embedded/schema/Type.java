package io.pmemcsi.embedded.schema;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The type of a value, as far as merging, defaulting and dropping of unknown fields need it. */
public sealed interface Type {

  /** A value without parts. */
  enum Scalar implements Type {
    STRING,
    INT,
    NUMBER,
    BOOL,
    BYTES,
    TIME,
    MICROTIME,
    QUANTITY,
    INTSTR
  }

  /** A value of unknown shape: objects are merged by field, lists are replaced as a whole. */
  enum Any implements Type {
    ANY;

    private static final Type OBJECT = new MapOf(ANY);
    private static final Type LIST = new ListOf(ListKind.ATOMIC, List.of(), ANY);
  }

  /** How the items of a list are identified. */
  enum ListKind {
    ATOMIC,
    SET,
    MAP
  }

  /**
   * A list.
   *
   * @param keys the fields that identify an item of a {@link ListKind#MAP} list
   */
  record ListOf(ListKind kind, List<String> keys, Type element) implements Type {}

  /** An object whose field names are data. */
  record MapOf(Type element) implements Type {}

  /**
   * One field of a struct.
   *
   * @param zero the value of a field that the server always writes
   * @param preset the value for a field that the client left out
   */
  record Field(Type type, Optional<JsonNode> zero, Optional<JsonNode> preset) {}

  /** An object with known fields. */
  final class Struct implements Type {
    private final String name;
    private final boolean atomic;
    private final boolean open;
    private final Map<String, Field> fields;

    /**
     * @param atomic whether the struct is replaced as a whole
     * @param open whether unknown fields are kept
     * @param fields may be filled later, since types refer to each other
     */
    Struct(String name, boolean atomic, boolean open, Map<String, Field> fields) {
      this.name = name;
      this.atomic = atomic;
      this.open = open;
      this.fields = fields;
    }

    public String name() {
      return name;
    }

    boolean open() {
      return open;
    }

    public Map<String, Field> fields() {
      return fields;
    }
  }

  /** The type itself, or for a value of unknown shape the type that the value suggests. */
  default Type seenAs(JsonNode value) {
    if (this != Any.ANY) {
      return this;
    }
    if (value.isObject()) {
      return Any.OBJECT;
    }
    return value.isArray() ? Any.LIST : Scalar.STRING;
  }

  /** Whether a value is owned and replaced as a whole. */
  default boolean atomic() {
    return switch (this) {
      case ListOf list -> list.kind == ListKind.ATOMIC;
      case Struct struct -> struct.atomic;
      case MapOf _ -> false;
      case Scalar _, Any _ -> true;
    };
  }

  /** Whether the name is one of a struct's own fields, not a key of a map. */
  default boolean declares(String name) {
    return this instanceof Struct struct && struct.fields.containsKey(name);
  }

  /** The type of the value in a field. */
  default Type field(String name) {
    return switch (this) {
      case Struct struct -> {
        Field field = struct.fields.get(name);
        yield field == null ? Any.ANY : field.type();
      }
      case MapOf map -> map.element();
      case ListOf _, Scalar _, Any _ -> Any.ANY;
    };
  }
}
