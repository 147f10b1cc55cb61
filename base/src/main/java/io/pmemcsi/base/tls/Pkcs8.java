package io.pmemcsi.base.tls;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.PublicKey;

/**
 * Puts keys in the older formats of OpenSSL and cfssl, PKCS#1 and SEC1, into PKCS#8, which is the
 * only one that the JDK reads: the same bytes with the algorithm in front (RFC 5208, section 5).
 */
final class Pkcs8 {

  private static final int SEQUENCE = 0x30;
  private static final int OCTET_STRING = 0x04;
  private static final byte[] VERSION_0 = {0x02, 0x01, 0x00};

  private Pkcs8() {}

  /**
   * Wraps a key.
   *
   * @param certified the public key that belongs to it, which names the same algorithm
   */
  static byte[] wrap(byte[] key, PublicKey certified) {
    var content = new ByteArrayOutputStream();
    content.writeBytes(VERSION_0);
    content.writeBytes(algorithm(certified));
    content.writeBytes(element(OCTET_STRING, key));
    return element(SEQUENCE, content.toByteArray());
  }

  /** The first element of a SubjectPublicKeyInfo, which is a sequence. */
  private static byte[] algorithm(PublicKey key) {
    ByteBuffer encoded = ByteBuffer.wrap(key.getEncoded());
    header(encoded);
    int begin = encoded.position();
    int length = header(encoded);
    byte[] algorithm = new byte[encoded.position() - begin + length];
    encoded.get(begin, algorithm);
    return algorithm;
  }

  /** Skips tag and length, and returns the length. */
  private static int header(ByteBuffer der) {
    der.get();
    int first = der.get() & 0xff;
    if (first < 0x80) {
      return first;
    }
    int length = 0;
    for (int i = first & 0x7f; i > 0; i--) {
      length = (length << 8) | (der.get() & 0xff);
    }
    return length;
  }

  private static byte[] element(int tag, byte[] content) {
    var out = new ByteArrayOutputStream();
    out.write(tag);
    if (content.length < 0x80) {
      out.write(content.length);
    } else {
      // two bytes of length are enough for any key
      out.write(0x82);
      out.write(content.length >> 8);
      out.write(content.length);
    }
    out.writeBytes(content);
    return out.toByteArray();
  }
}
