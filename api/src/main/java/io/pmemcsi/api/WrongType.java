package io.pmemcsi.api;

import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonMappingException.Reference;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Says in words which value has a type that its field does not take: the library that reads
 * resources says it by the names of classes.
 */
public final class WrongType {

  private WrongType() {}

  /**
   * What is wrong with a value that could not be read.
   *
   * @param prefix where the value stands in its resource, empty for a whole resource
   * @param failure of the library, or one that it is the cause of
   */
  public static Violation in(String prefix, Throwable failure) {
    Throwable cause = failure;
    while (!(cause instanceof JsonMappingException) && cause.getCause() != null) {
      cause = cause.getCause();
    }
    StringBuilder path = new StringBuilder(prefix);
    if (cause instanceof JsonMappingException mapping) {
      mapping.getPath().forEach(step -> append(path, step));
    }
    Class<?> expected =
        cause instanceof MismatchedInputException type ? type.getTargetType() : null;
    return new Violation(
        path.isEmpty() ? "resource" : path.toString(),
        "",
        "has the wrong type: write " + words(expected));
  }

  private static void append(StringBuilder path, Reference step) {
    if (step.getFieldName() == null) {
      path.append('[').append(step.getIndex()).append(']');
    } else {
      path.append(path.isEmpty() ? "" : ".").append(step.getFieldName());
    }
  }

  private static String words(@Nullable Class<?> expected) {
    if (expected == null) {
      return "a value as the documentation has it";
    }
    if (Collection.class.isAssignableFrom(expected) || expected.isArray()) {
      return "a list";
    }
    if (expected == String.class) {
      return "a text";
    }
    if (expected == Boolean.class || expected == boolean.class) {
      return "true or false";
    }
    if (Number.class.isAssignableFrom(expected) || expected.isPrimitive()) {
      return "a number";
    }
    // whatever else there is has fields of its own, unless it is read from a single value
    return Map.class.isAssignableFrom(expected) || !expected.getName().startsWith("java.")
        ? "a map of fields"
        : "a value as the documentation has it";
  }
}
