/**
 * Certificates: checking those that a user brings, issuing and renewing our own. {@link
 * io.pmemcsi.operator.certs.CertificateCheck} and {@link io.pmemcsi.operator.certs.RenewalPlan}
 * decide, {@link io.pmemcsi.operator.certs.Issuer} is the only place that makes certificates.
 */
@NullMarked
package io.pmemcsi.operator.certs;

import org.jspecify.annotations.NullMarked;
