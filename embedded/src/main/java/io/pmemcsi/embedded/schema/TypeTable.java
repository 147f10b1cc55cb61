package io.pmemcsi.embedded.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type.Any;
import io.pmemcsi.embedded.schema.Type.Field;
import io.pmemcsi.embedded.schema.Type.ListKind;
import io.pmemcsi.embedded.schema.Type.ListOf;
import io.pmemcsi.embedded.schema.Type.MapOf;
import io.pmemcsi.embedded.schema.Type.Scalar;
import io.pmemcsi.embedded.schema.Type.Struct;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The table of built-in kinds; the head of the file explains the notation. */
public final class TypeTable {
  private static final String FILE = "kubernetes-1.20.types";

  private final Map<String, Struct> types = new LinkedHashMap<>();
  private final List<ResourceType> resources = new ArrayList<>();
  private final boolean open;

  private TypeTable(boolean open) {
    this.open = open;
  }

  /**
   * Reads the table.
   *
   * @param open whether unknown fields are kept, as a newer server would do
   */
  public static TypeTable read(boolean open) {
    try (InputStream in = TypeTable.class.getResourceAsStream(FILE)) {
      if (in == null) {
        throw new IllegalStateException("the resource " + FILE + " is missing from the class path");
      }
      return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8), open);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static TypeTable parse(String text, boolean open) {
    TypeTable table = new TypeTable(open);
    List<String> lines = joined(text);
    for (String line : lines) {
      if (line.startsWith("type ")) {
        table.declare(line.split(" ", 3)[1]);
      }
    }
    for (String line : lines) {
      String[] words = line.split(" +", -1);
      switch (words[0]) {
        case "type" -> table.fill(words);
        case "resource" -> table.resources.add(table.resource(words));
        default -> throw new IllegalArgumentException("neither type nor resource: " + line);
      }
    }
    return table;
  }

  public List<ResourceType> resources() {
    return resources;
  }

  public Map<String, Struct> types() {
    return types;
  }

  /** A type in the table. */
  public Struct type(String name) {
    Struct type = types.get(name);
    if (type == null) {
      throw new IllegalArgumentException("no type " + name + " in " + FILE);
    }
    return type;
  }

  private static List<String> joined(String text) {
    List<String> lines = new ArrayList<>();
    for (String line : text.lines().toList()) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      if (line.startsWith("  ")) {
        lines.addLast(lines.removeLast() + " " + line.strip());
      } else {
        lines.add(line.strip());
      }
    }
    return lines;
  }

  private void declare(String word) {
    String name = word.replace("!", "");
    types.put(name, new Struct(name, word.endsWith("!"), open, new LinkedHashMap<>()));
  }

  private void fill(String[] words) {
    Map<String, Field> fields = type(words[1].replace("!", "")).fields();
    for (int i = 2; i < words.length; i++) {
      int colon = words[i].indexOf(':');
      fields.put(words[i].substring(0, colon), field(words[i].substring(colon + 1)));
    }
  }

  private Field field(String text) {
    int equals = text.indexOf('=');
    if (equals < 0) {
      return new Field(ofName(text), Optional.empty(), Optional.empty());
    }
    String value = text.substring(equals + 1);
    Optional<JsonNode> json = Optional.of(value.isEmpty() ? Json.object() : Json.parse(value));
    boolean zero = text.charAt(equals - 1) == ':';
    Type type = ofName(text.substring(0, zero ? equals - 1 : equals));
    return new Field(type, zero ? json : Optional.empty(), zero ? Optional.empty() : json);
  }

  private Type ofName(String name) {
    if (name.startsWith("{}")) {
      return new MapOf(ofName(name.substring(2)));
    }
    if (name.startsWith("[")) {
      int end = name.indexOf(']');
      return list(name.substring(1, end), ofName(name.substring(end + 1)));
    }
    if (name.equals("any")) {
      return Any.ANY;
    }
    return Character.isUpperCase(name.charAt(0))
        ? type(name)
        : Scalar.valueOf(name.toUpperCase(Locale.ROOT));
  }

  private static ListOf list(String keys, Type element) {
    return switch (keys) {
      case "" -> new ListOf(ListKind.ATOMIC, List.of(), element);
      case "set" -> new ListOf(ListKind.SET, List.of(), element);
      default -> new ListOf(ListKind.MAP, List.of(keys.split(",", -1)), element);
    };
  }

  private ResourceType resource(String[] words) {
    int slash = words[1].indexOf('/');
    List<String> flags = List.of(words).subList(5, words.length);
    return new ResourceType(
        slash < 0 ? "" : words[1].substring(0, slash),
        words[1].substring(slash + 1),
        words[2],
        words[3],
        words[4].equals("namespaced"),
        flags.contains("status"),
        flags.contains("generation"),
        type(words[3]),
        Optional.empty());
  }
}
