package io.pmemcsi.operator.certs;

import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

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
    names = List.copyOf(names);
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
   */
  public record Decision(
      Map<String, String> authoritySecret,
      Map<String, String> serverSecret,
      String bundle,
      Instant expires,
      Instant due) {}

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
    return new Decision(
        keys.data(), files.data(), TlsFiles.encode(files.authority()), expires, due(keys, expires));
  }

  private AuthorityKeys authority(Optional<AuthorityKeys> stored, Issuer issuer, Instant now) {
    if (stored.isEmpty() || !end(stored.get().current()).isAfter(now)) {
      return new AuthorityKeys(newAuthority(issuer, now), Optional.empty());
    }
    AuthorityKeys keys = stored.get();
    if (now.isBefore(announcement(keys))) {
      return keys;
    }
    if (keys.next().isEmpty()) {
      return new AuthorityKeys(keys.current(), Optional.of(newAuthority(issuer, now)));
    }
    return now.isBefore(takeover(keys.next().get()))
        ? keys
        : new AuthorityKeys(keys.next().get(), Optional.empty());
  }

  private Issuer.Issued newAuthority(Issuer issuer, Instant now) {
    return issuer.authority(AUTHORITY_NAME, now, validity.multipliedBy(AUTHORITY_LIVES));
  }

  /** Early enough that the old authority outlives everything it has signed. */
  private Instant announcement(AuthorityKeys keys) {
    return end(keys.current()).minus(validity).minus(renewBefore);
  }

  private Instant takeover(Issuer.Issued next) {
    return next.certificate().getNotBefore().toInstant().plus(renewBefore.dividedBy(2));
  }

  private static Instant end(Issuer.Issued issued) {
    return issued.certificate().getNotAfter().toInstant();
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
      var check =
          CertificateCheck.of(
              new TlsFiles(
                  Pem.of(keys.current().certificate()), server.certificate(), server.key()),
              names,
              now);
      var leaf = Pem.certificates("the certificate", server.certificate()).getFirst();
      var wanted =
          names.stream()
              .map(name -> name.toLowerCase(Locale.ROOT))
              .collect(Collectors.toCollection(HashSet::new));
      return check.broken().isEmpty()
          && CertificateCheck.names(leaf).equals(wanted)
          && now.isBefore(check.expires().minus(renewBefore));
    } catch (BadCertificateException e) {
      return false;
    }
  }

  private TlsFiles issue(
      Issuer issuer, AuthorityKeys keys, List<X509Certificate> bundle, Instant now) {
    Issuer.Issued server = issuer.server(keys.current(), names, now, validity);
    return new TlsFiles(Pem.of(bundle), Pem.of(server.certificate()), Pem.of(server.key()));
  }

  private Instant due(AuthorityKeys keys, Instant expires) {
    Instant renewal = expires.minus(renewBefore);
    Instant authority = keys.next().map(this::takeover).orElse(announcement(keys));
    return renewal.isBefore(authority) ? renewal : authority;
  }
}
