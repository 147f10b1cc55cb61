package io.pmemcsi.operator.events;

/**
 * Something that users should see below a resource in {@code kubectl describe}.
 *
 * @param reason one word
 */
public record Announcement(boolean warning, String reason, String message) {

  public static Announcement normal(String reason, String message) {
    return new Announcement(false, reason, message);
  }

  public static Announcement warning(String reason, String message) {
    return new Announcement(true, reason, message);
  }
}
