package io.pmemcsi.app.cli;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Option;

/**
 * Sets flags of the form {@code --name=value} without picocli, whose classes no cache of the JVM
 * can hold and whose start is a third of what a node driver needs until it answers. Anything else
 * on a command line, and anything wrong, is left to picocli and its messages.
 */
final class PlainFlags {

  private PlainFlags() {}

  /** Sets the fields of all flags, or none and returns false when picocli has to look at them. */
  static boolean set(List<String> arguments, Object... holders) {
    // in the order of the command line: a flag may have two spellings, and its last value counts
    List<Runnable> settings = new ArrayList<>();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      if (!argument.startsWith("-") || equals < 0) {
        return false;
      }
      String name = argument.substring(0, equals);
      String value = argument.substring(equals + 1);
      boolean known = false;
      for (Object holder : holders) {
        for (Field field : holder.getClass().getDeclaredFields()) {
          if (isFlag(field, name)) {
            if (field.getType() == int.class && !value.matches("\\d{1,9}")) {
              return false;
            }
            settings.add(() -> set(holder, field, value));
            known = true;
          }
        }
      }
      if (!known) {
        return false;
      }
    }
    settings.forEach(Runnable::run);
    return true;
  }

  private static boolean isFlag(Field field, String name) {
    Option option = field.getAnnotation(Option.class);
    boolean plain = field.getType() == String.class || field.getType() == int.class;
    return option != null && plain && Arrays.asList(option.names()).contains(name);
  }

  private static void set(Object holder, Field field, String value) {
    try {
      field.setAccessible(true);
      if (field.getType() == int.class) {
        field.setInt(holder, Integer.parseInt(value));
      } else {
        field.set(holder, value);
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("flags are fields of this program: " + field, e);
    }
  }
}
