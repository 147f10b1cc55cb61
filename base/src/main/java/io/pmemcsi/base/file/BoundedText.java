package io.pmemcsi.base.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Text that people write by hand: something much bigger is a mistake, and may have no end. */
public final class BoundedText {

  private static final int MIB = 1024 * 1024;
  static final int MOST = 16 * MIB;

  private BoundedText() {}

  /** The content of a file. */
  public static String read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return read(in);
    }
  }

  /** What is left of a stream. */
  public static String read(InputStream in) throws IOException {
    byte[] bytes = in.readNBytes(MOST + 1);
    if (bytes.length > MOST) {
      throw new IOException("it is larger than %d MiB".formatted(MOST / MIB));
    }
    // not by way of new String, which puts another character in place of what is no text
    return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
  }
}
