package io.pmemcsi.controller.https;

/** What is done for requests to one path. */
@FunctionalInterface
public interface Operation {

  Response handle(byte[] body);
}
