package io.pmemcsi.driver.linux.exec;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * What a tool prints. A tool may print without end, and the driver's heap is small: beyond a limit
 * only the beginning and the end are kept, which is where tools say what is wrong.
 */
final class BoundedOutput {

  /** The driver reads the standard output of some tools: thousands of volumes fit in there. */
  static final int STDOUT_LIMIT = 4 << 20;

  /** Standard error is for people. */
  static final int STDERR_LIMIT = 64 << 10;

  private static final int CHUNK = 8 << 10;

  private final byte[] tail;
  private final int headLimit;
  private final ByteArrayOutputStream head = new ByteArrayOutputStream();
  private long length;

  private BoundedOutput(int limit) {
    this.tail = new byte[Math.min(limit / 2, STDERR_LIMIT / 2)];
    this.headLimit = limit - tail.length;
  }

  /** The text, and whether anything was left out of it. */
  record Text(String text, long omittedBytes) {
    boolean isComplete() {
      return omittedBytes == 0;
    }
  }

  /** Reads to the end, so that no tool ever blocks on a full pipe. */
  static Text read(InputStream in, int limit) throws IOException {
    BoundedOutput output = new BoundedOutput(limit);
    byte[] chunk = new byte[CHUNK];
    for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
      output.add(chunk, read);
    }
    return output.text();
  }

  private void add(byte[] bytes, int count) {
    int toHead = Math.min(count, headLimit - head.size());
    head.write(bytes, 0, toHead);
    for (int i = toHead; i < count; i++) {
      tail[(int) ((length + i - headLimit) % tail.length)] = bytes[i];
    }
    length += count;
  }

  private Text text() {
    long beyondHead = length - head.size();
    if (beyondHead <= tail.length) {
      head.write(tail, 0, (int) beyondHead);
      return new Text(head.toString(StandardCharsets.UTF_8), 0);
    }
    long omitted = beyondHead - tail.length;
    byte[] note =
        "\n... (%d bytes left out) ...\n".formatted(omitted).getBytes(StandardCharsets.UTF_8);
    head.write(note, 0, note.length);
    int oldest = (int) (beyondHead % tail.length);
    head.write(tail, oldest, tail.length - oldest);
    head.write(tail, 0, oldest);
    return new Text(head.toString(StandardCharsets.UTF_8), omitted);
  }
}
