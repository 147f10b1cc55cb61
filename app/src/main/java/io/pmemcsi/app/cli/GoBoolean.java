package io.pmemcsi.app.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The spellings of true and false that Go programs take, and with them existing deployments. */
final class GoBoolean implements ITypeConverter<Boolean> {

  @Override
  public Boolean convert(String text) {
    return switch (text) {
      case "1", "t", "T", "true", "TRUE", "True" -> true;
      case "0", "f", "F", "false", "FALSE", "False" -> false;
      default ->
          throw new TypeConversionException("\"%s\" is neither true nor false".formatted(text));
    };
  }
}
