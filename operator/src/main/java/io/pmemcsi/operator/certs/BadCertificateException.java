package io.pmemcsi.operator.certs;

/** Something that should be a certificate or a key is not one. */
public final class BadCertificateException extends RuntimeException {

  public BadCertificateException(String message) {
    super(message);
  }

  public BadCertificateException(String message, Throwable cause) {
    super(message, cause);
  }
}
