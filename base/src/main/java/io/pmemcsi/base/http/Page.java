package io.pmemcsi.base.http;

import java.io.IOException;

/** One thing that can be read over HTTP. */
@FunctionalInterface
public interface Page {
  Answer read() throws IOException;
}
