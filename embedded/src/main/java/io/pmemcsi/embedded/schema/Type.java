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

  /** A value of unknown shape. */
  enum Any implements Type {
    /** Objects merge by field, lists are replaced as a whole. */
    ANY,
    /** All of it is replaced as a whole. */
    ATOMIC;

    private static final Type OBJECT = new MapOf(ANY, false);
    private static final Type LIST = new ListOf(ListKind.ATOMIC, List.of(), ANY);
  }

  /** How the items of a list are told apart. */
  enum ListKind {
    ATOMIC,
    SET,
    MAP
  }

  /**
   * A list.
   *
   * @param keys the fields that identify an item of a {@link ListKind#MAP} list
   * @param patched whether a strategic merge patch merges it too
   */
  record ListOf(ListKind kind, List<String> keys, Type element, boolean patched) implements Type {
    public ListOf(ListKind kind, List<String> keys, Type element) {
      this(kind, keys, element, kind != ListKind.ATOMIC);
    }
  }

  /** An object whose field names are data. */
  record MapOf(Type element, boolean atomic) implements Type {}

  /**
   * One field of a struct.
   *
   * @param zero the value that is there even where nobody wrote it
   * @param preset the value filled in where the client wrote none
   */
  record Field(Type type, Optional<JsonNode> zero, Optional<JsonNode> preset) {}

  /** An object with known fields. */
  final class Struct implements Type {
    private final String name;
    private final boolean atomic;
    private final boolean open;
    private final Map<String, Field> fields;

    /**
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

    public boolean atomic() {
      return atomic;
    }

    public boolean open() {
      return open;
    }

    public Map<String, Field> fields() {
      return fields;
    }
  }

  /** The type itself, or for a value of unknown shape the one its form suggests. */
  default Type seenAs(JsonNode value) {
    if (this != Any.ANY) {
      return this;
    }
    if (value.isObject()) {
      return Any.OBJECT;
    }
    return value.isArray() ? Any.LIST : Scalar.STRING;
  }

  /** Whether the name is one of a struct's own fields, not a key of a map. */
  default boolean declares(String name) {
    return this instanceof Struct struct && struct.fields.containsKey(name);
  }

  /** The type of the value under a field name. */
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
