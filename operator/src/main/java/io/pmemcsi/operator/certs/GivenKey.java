package io.pmemcsi.operator.certs;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.RSAPublicKeySpec;
import org.bouncycastle.jcajce.provider.asymmetric.util.EC5Util;
import org.bouncycastle.math.ec.FixedPointCombMultiplier;

/** A private key of the user, for which a certificate is issued. */
final class GivenKey {

  private GivenKey() {}

  /** Completes the pair: files of private keys need not contain the public one. */
  static KeyPair pair(String what, String pem) {
    PrivateKey key = Pem.key(what, pem);
    try {
      return new KeyPair(publicKey(what, key), key);
    } catch (GeneralSecurityException e) {
      throw new BadCertificateException(what + " has no public key", e);
    }
  }

  private static PublicKey publicKey(String what, PrivateKey key) throws GeneralSecurityException {
    return switch (key) {
      case RSAPrivateCrtKey rsa ->
          KeyFactory.getInstance("RSA")
              .generatePublic(new RSAPublicKeySpec(rsa.getModulus(), rsa.getPublicExponent()));
      case ECPrivateKey ec -> {
        var curve = EC5Util.convertSpec(ec.getParams());
        var point = new FixedPointCombMultiplier().multiply(curve.getG(), ec.getS()).normalize();
        yield KeyFactory.getInstance("EC")
            .generatePublic(new ECPublicKeySpec(EC5Util.convertPoint(point), ec.getParams()));
      }
      default ->
          throw new BadCertificateException(
              "%s is a %s key: use an RSA or an EC key".formatted(what, key.getAlgorithm()));
    };
  }
}
