package io.pmemcsi.operator.certs;

import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides what the secrets of certificates that we issue ourselves should hold now.
 *
 * <p>A new authority is announced in the bundle of trusted ones before anything is signed with it,
 * and an old one stays there until it has run out: at every moment each client trusts each server,
 * whichever of them has seen the change.
 *
 * @param names of the server
 * @param validity of a server certificate; that of the authority is three times as long
 * @param renewBefore how long before its end a server certificate is replaced
 */
public record RenewalPlan(List<String> names, Duration validity, Duration renewBefore) {

  private static final int AUTHORITY_LIVES = 3;
  private static final String AUTHORITY_NAME = "PMEM-CSI operator certificate authority";

  public RenewalPlan {
    names = names.stream().map(ServerName::canonical).distinct().toList();
    if (names.isEmpty()) {
      throw new IllegalArgumentException("a server needs a name");
    }
    if (renewBefore.compareTo(validity) >= 0) {
      throw new IllegalArgumentException(
          "certificates that are valid for %d days cannot be renewed %d days before their end"
              .formatted(validity.toDays(), renewBefore.toDays()));
    }
  }

  /**
   * What to store.
   *
   * @param authoritySecret data of the secret with the signing keys
   * @param serverSecret data of the secret that the server mounts
   * @param bundle the trusted authorities as base64-encoded PEM
   * @param expires when the server's certificate runs out
   * @param due when the next thing has to be done
   * @param begins when the authority becomes valid, if it is not yet: somebody set a clock back
   */
  public record Decision(
      Map<String, String> authoritySecret,
      Map<String, String> serverSecret,
      String bundle,
      Instant expires,
      Instant due,
      Optional<Instant> begins) {}

  /** From what is stored now, if anything is. */
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
            .map(before -> takenOver(before, now))
            .filter(before -> end(before.current()).isAfter(now))
            .orElseGet(() -> new AuthorityKeys(newAuthority(issuer, now), Optional.empty()));
    return keys.next().isPresent() || now.isBefore(announcement(keys))
        ? keys
        : new AuthorityKeys(keys.current(), Optional.of(newAuthority(issuer, now)));
  }

  /** An announced authority follows even one that ran out: some clients trust it already. */
  private AuthorityKeys takenOver(AuthorityKeys keys, Instant now) {
    return keys.next()
        .filter(next -> !now.isBefore(takeover(keys.current(), next)))
        .map(next -> new AuthorityKeys(next, Optional.empty()))
        .orElse(keys);
  }

  private Issuer.Issued newAuthority(Issuer issuer, Instant now) {
    return issuer.authority(AUTHORITY_NAME, now, validity.multipliedBy(AUTHORITY_LIVES));
  }

  /** Early enough that the old authority outlives everything it has signed. */
  private Instant announcement(AuthorityKeys keys) {
    return end(keys.current()).minus(validity).minus(renewBefore);
  }

  /** One that was announced late gets half of the time that the current one has left then. */
  private Instant takeover(Issuer.Issued current, Issuer.Issued next) {
    Instant announced = begins(next).plus(Issuer.BACKDATED);
    Instant usual = announced.plus(renewBefore.dividedBy(2));
    Instant latest = announced.plus(Duration.between(announced, end(current)).dividedBy(2));
    return usual.isBefore(latest) ? usual : latest;
  }

  private static Instant begins(Issuer.Issued issued) {
    return Validity.begins(issued.certificate());
  }

  private static Instant end(Issuer.Issued issued) {
    return Validity.expires(issued.certificate());
  }

  /** Whether a certificate lasts as long as its authority, so that a new one would be no better. */
  private static boolean endsWithAuthority(AuthorityKeys keys, Instant expires) {
    return !expires.isBefore(end(keys.current()));
  }

  /** The signing one first, then the announced one, then every earlier one that still counts. */
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
              judged(leaf, keys, now));
      return check.broken().isEmpty()
          && CertificateCheck.names(leaf).equals(Set.copyOf(names))
          && (now.isBefore(check.expires().minus(renewBefore))
              || endsWithAuthority(keys, Validity.expires(leaf)));
    } catch (BadCertificateException e) {
      return false;
    }
  }

  /**
   * While the authority is not valid yet nothing that it signs is, so that another certificate
   * would be no better than the one that is there.
   */
  private static Instant judged(X509Certificate leaf, AuthorityKeys keys, Instant now) {
    Instant authority = begins(keys.current());
    return now.isBefore(authority) ? later(authority, Validity.begins(leaf)) : now;
  }

  private static Instant later(Instant one, Instant other) {
    return one.isBefore(other) ? other : one;
  }

  private TlsFiles issue(
      Issuer issuer, AuthorityKeys keys, List<X509Certificate> bundle, Instant now) {
    Issuer.Issued server =
        issuer.server(keys.current(), names, later(now, begins(keys.current())), validity);
    return new TlsFiles(Pem.of(bundle), Pem.of(server.certificate()), Pem.of(server.key()));
  }

  private Instant due(AuthorityKeys keys, Instant expires) {
    Instant authority =
        keys.next().map(next -> takeover(keys.current(), next)).orElse(announcement(keys));
    Instant renewal = expires.minus(renewBefore);
    return endsWithAuthority(keys, expires) || authority.isBefore(renewal) ? authority : renewal;
  }
}
