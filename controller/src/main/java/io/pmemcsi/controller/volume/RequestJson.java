package io.pmemcsi.controller.volume;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;

/** Reads JSON of clients that need not be well-meaning. */
public final class RequestJson {

  /** Objects of a few bytes each could otherwise take all memory. */
  private static final long MAX_TOKENS = 500_000;

  /** Names of fields are not interned: a client could choose any number of them. */
  public static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .streamReadConstraints(StreamReadConstraints.builder().maxTokenCount(MAX_TOKENS).build())
          .build();

  private RequestJson() {}
}
