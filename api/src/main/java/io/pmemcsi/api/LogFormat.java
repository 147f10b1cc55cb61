package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonValue;

/** The form in which a driver writes its log. */
public enum LogFormat implements Choice {
  TEXT("text"),
  JSON("json");

  private final String text;

  LogFormat(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
