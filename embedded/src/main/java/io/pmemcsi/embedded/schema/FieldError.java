package io.pmemcsi.embedded.schema;

/**
 * One thing that is wrong with an object.
 *
 * @param reason the machine-readable cause, such as FieldValueInvalid
 * @param path where it is, such as spec.size
 * @param message what is wrong, without the path
 */
public record FieldError(String reason, String path, String message) {
  public static FieldError invalid(String path, String value, String detail) {
    return new FieldError("FieldValueInvalid", path, "Invalid value: " + value + ": " + detail);
  }

  public static FieldError required(String path, String detail) {
    return new FieldError(
        "FieldValueRequired",
        path,
        detail.isEmpty() ? "Required value" : "Required value: " + detail);
  }

  public static FieldError forbidden(String path, String detail) {
    return new FieldError("FieldValueForbidden", path, "Forbidden: " + detail);
  }

  /** The whole sentence. */
  public String sentence() {
    return path + ": " + message;
  }
}
