package io.pmemcsi.operator.certs;

import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides the content of the secrets with certificates that the operator issues.
 *
 * <p>A new CA is added to the trust bundle before it signs anything, and an old CA stays in it
 * until it expires: at any time each client trusts each server, whichever of them has the newer
 * files.
 *
 * @param names of the server
 * @param validity of a server certificate; a CA is valid three times as long
 * @param renewBefore how long before its expiry a server certificate is replaced
 * @param key to issue certificates for; without one, each of them gets a new key
 */
public record RenewalPlan(
    List<String> names, Duration validity, Duration renewBefore, Optional<KeyPair> key) {

  private static final int CA_VALIDITY_FACTOR = 3;
  private static final String AUTHORITY_NAME = "PMEM-CSI operator certificate authority";

  public RenewalPlan {
    names = names.stream().map(ServerName::canonical).distinct().toList();
    if (names.isEmpty()) {
      throw new IllegalArgumentException("a server certificate needs at least one name");
    }
    if (renewBefore.compareTo(validity) >= 0) {
      throw new IllegalArgumentException(
          "certificates that are valid for %d days cannot be renewed %d days before they expire"
              .formatted(validity.toDays(), renewBefore.toDays()));
    }
  }

  /** A plan with a new key for each certificate. */
  public RenewalPlan(List<String> names, Duration validity, Duration renewBefore) {
    this(names, validity, renewBefore, Optional.empty());
  }

  /**
   * The same for a key of the user.
   *
   * @param field of the resource, for messages
   * @param base64 the key as base64-encoded PEM
   * @throws BadCertificateException if it cannot be used
   */
  public RenewalPlan forKey(String field, String base64) {
    return new RenewalPlan(
        names,
        validity,
        renewBefore,
        Optional.of(GivenKey.pair(field, TlsFiles.decode(field, base64))));
  }

  /**
   * What to store.
   *
   * @param authoritySecret data of the secret with the signing keys
   * @param serverSecret data of the secret that the server mounts
   * @param bundle the trusted CAs as base64-encoded PEM
   * @param expires when the server's certificate expires
   * @param due when to decide again
   * @param begins when the CA becomes valid, if the clock was set back to before that
   */
  public record Decision(
      Map<String, String> authoritySecret,
      Map<String, String> serverSecret,
      String bundle,
      Instant expires,
      Instant due,
      Optional<Instant> begins) {}

  /** From the current data of the secrets, which may be empty. */
  public Decision decide(
      Map<String, String> authoritySecret, Map<String, String> serverSecret, Instant now) {
    var issuer = new Issuer();
    AuthorityKeys keys = authority(AuthorityKeys.of(authoritySecret), issuer, now);
    Optional<TlsFiles> stored = TlsFiles.ifComplete(serverSecret);
    List<X509Certificate> bundle = bundle(keys, stored, now);
    TlsFiles files =
        stored
            .filter(server -> usable(server, keys, now))
            .map(server -> new TlsFiles(Pem.of(bundle), server.certificate(), server.key()))
            .orElseGet(() -> issue(issuer, keys, bundle, now));
    Instant expires =
        Pem.certificates("the certificate", files.certificate())
            .getFirst()
            .getNotAfter()
            .toInstant();
    Optional<Instant> begins = Optional.of(begins(keys.current())).filter(now::isBefore);
    return new Decision(
        keys.data(),
        files.data(),
        TlsFiles.encode(files.authority()),
        expires,
        begins.orElseGet(() -> due(keys, expires)),
        begins);
  }

  private AuthorityKeys authority(Optional<AuthorityKeys> stored, Issuer issuer, Instant now) {
    AuthorityKeys keys =
        stored
            .map(before -> rotated(before, now))
            .filter(before -> end(before.current()).isAfter(now))
            .orElseGet(() -> new AuthorityKeys(newAuthority(issuer, now), Optional.empty()));
    return keys.next().isPresent() || now.isBefore(nextAuthorityDue(keys))
        ? keys
        : new AuthorityKeys(keys.current(), Optional.of(newAuthority(issuer, now)));
  }

  /** The next CA follows even an expired one: some clients trust it already. */
  private AuthorityKeys rotated(AuthorityKeys keys, Instant now) {
    return keys.next()
        .filter(next -> !now.isBefore(rotationTime(keys.current(), next)))
        .map(next -> new AuthorityKeys(next, Optional.empty()))
        .orElse(keys);
  }

  private Issuer.Issued newAuthority(Issuer issuer, Instant now) {
    return issuer.authority(AUTHORITY_NAME, now, validity.multipliedBy(CA_VALIDITY_FACTOR));
  }

  /** Early enough that the old CA outlives everything that it signed. */
  private Instant nextAuthorityDue(AuthorityKeys keys) {
    return end(keys.current()).minus(validity).minus(renewBefore);
  }

  /** A CA that was added late signs after half of the remaining time of the current one. */
  private Instant rotationTime(Issuer.Issued current, Issuer.Issued next) {
    Instant added = begins(next).plus(Issuer.BACKDATED);
    Instant usual = added.plus(renewBefore.dividedBy(2));
    Instant latest = added.plus(Duration.between(added, end(current)).dividedBy(2));
    return usual.isBefore(latest) ? usual : latest;
  }

  private static Instant begins(Issuer.Issued issued) {
    return Validity.begins(issued.certificate());
  }

  private static Instant end(Issuer.Issued issued) {
    return Validity.expires(issued.certificate());
  }

  /** Whether a certificate expires with its CA, so that a new one would not be better. */
  private static boolean expiresWithAuthority(AuthorityKeys keys, Instant expires) {
    return !expires.isBefore(end(keys.current()));
  }

  /** The signing CA, then the next one, then all earlier ones that have not expired. */
  private static List<X509Certificate> bundle(
      AuthorityKeys keys, Optional<TlsFiles> stored, Instant now) {
    var bundle = new ArrayList<X509Certificate>();
    bundle.add(keys.current().certificate());
    keys.next().map(Issuer.Issued::certificate).ifPresent(bundle::add);
    for (X509Certificate earlier : trusted(stored)) {
      if (!bundle.contains(earlier) && earlier.getNotAfter().toInstant().isAfter(now)) {
        bundle.add(earlier);
      }
    }
    return bundle;
  }

  private static List<X509Certificate> trusted(Optional<TlsFiles> stored) {
    try {
      return stored.isEmpty()
          ? List.of()
          : Pem.certificates("the stored bundle", stored.get().authority());
    } catch (BadCertificateException e) {
      return List.of();
    }
  }

  private boolean usable(TlsFiles server, AuthorityKeys keys, Instant now) {
    try {
      var leaf = Pem.certificates("the certificate", server.certificate()).getFirst();
      var check =
          CertificateCheck.of(
              new TlsFiles(
                  Pem.of(keys.current().certificate()), server.certificate(), server.key()),
              names,
              validationTime(leaf, keys, now));
      return check.broken().isEmpty()
          && CertificateCheck.names(leaf).equals(Set.copyOf(names))
          && key.map(KeyPair::getPublic).filter(own -> !own.equals(leaf.getPublicKey())).isEmpty()
          && (now.isBefore(check.expires().minus(renewBefore))
              || expiresWithAuthority(keys, Validity.expires(leaf)));
    } catch (BadCertificateException e) {
      return false;
    }
  }

  /**
   * While the CA is not valid yet, nothing that it signs is: a new certificate would not be better
   * than the existing one.
   */
  private static Instant validationTime(X509Certificate leaf, AuthorityKeys keys, Instant now) {
    Instant authority = begins(keys.current());
    return now.isBefore(authority) ? later(authority, Validity.begins(leaf)) : now;
  }

  private static Instant later(Instant one, Instant other) {
    return one.isBefore(other) ? other : one;
  }

  private TlsFiles issue(
      Issuer issuer, AuthorityKeys keys, List<X509Certificate> bundle, Instant now) {
    Issuer.Issued server =
        issuer.server(
            keys.current(),
            names,
            later(now, begins(keys.current())),
            validity,
            key.orElseGet(issuer::newKey));
    return new TlsFiles(Pem.of(bundle), Pem.of(server.certificate()), Pem.of(server.key()));
  }

  private Instant due(AuthorityKeys keys, Instant expires) {
    Instant authority =
        keys.next().map(next -> rotationTime(keys.current(), next)).orElse(nextAuthorityDue(keys));
    Instant renewal = expires.minus(renewBefore);
    return expiresWithAuthority(keys, expires) || authority.isBefore(renewal) ? authority : renewal;
  }
}
