package io.pmemcsi.controller;

import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A filter request about a pod that exists nowhere and needs nothing. */
final class WarmUpRequest {

  static final int CALLS = 200;
  private static final int NODES = 500;

  private WarmUpRequest() {}

  static byte[] body() {
    String names =
        IntStream.range(0, NODES)
            .mapToObj("\"warm-up-node-%04d\""::formatted)
            .collect(Collectors.joining(","));
    return """
    {"Pod": {"metadata": {"name": "warm-up", "namespace": "warm-up"}, "spec": {"volumes": []}},
     "NodeNames": [%s]}"""
        .formatted(names)
        .getBytes(StandardCharsets.UTF_8);
  }
}
