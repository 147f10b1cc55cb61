package io.pmemcsi.base.http;

/** What a page answers. */
public record Answer(int status, String contentType, String body) {

  /** Plain text, one line. */
  public static Answer text(int status, String line) {
    return new Answer(status, "text/plain; charset=utf-8", line + "\n");
  }
}
