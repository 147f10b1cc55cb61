package io.pmemcsi.api;

/**
 * Something in a resource that cannot be carried out.
 *
 * @param field where it stands, for example {@code spec.deviceMode}
 * @param value the value of the field, empty if it has none
 * @param problem what is wrong with it and what to do
 * @param unknownToLibrary whether it is only that the client library does not know the field, so
 *     that a newer API server may
 */
public record Violation(String field, String value, String problem, boolean unknownToLibrary) {

  private static final int LONGEST_VALUE = 80;

  public Violation(String field, String value, String problem) {
    this(field, value, problem, false);
  }

  /** All in one line, for people. */
  public String message() {
    if (value.isEmpty()) {
      return "%s: %s".formatted(field, problem);
    }
    String shown =
        value.length() > LONGEST_VALUE ? value.substring(0, LONGEST_VALUE) + "..." : value;
    return "%s: \"%s\": %s".formatted(field, oneLine(shown), problem);
  }

  private static String oneLine(String text) {
    return text.replace("\n", "\\n").replace("\r", "\\r");
  }

  @Override
  public String toString() {
    return message();
  }
}
