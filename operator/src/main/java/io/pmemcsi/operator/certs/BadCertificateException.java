package io.pmemcsi.operator.certs;

/** A certificate or key cannot be read. */
public final class BadCertificateException extends RuntimeException {

  public BadCertificateException(String message) {
    super(message);
  }

  public BadCertificateException(String message, Throwable cause) {
    super(message, cause);
  }
}
