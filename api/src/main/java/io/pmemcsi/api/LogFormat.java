package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/** The form in which a driver writes its log. */
public enum LogFormat {
  @JsonProperty("text")
  TEXT,
  @JsonProperty("json")
  JSON;
}
