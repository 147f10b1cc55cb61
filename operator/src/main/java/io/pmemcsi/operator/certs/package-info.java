/**
 * TLS certificates: checks those of users, issues and renews those of the operator. {@link
 * io.pmemcsi.operator.certs.CertificateCheck} and {@link io.pmemcsi.operator.certs.RenewalPlan}
 * decide, {@code Issuer} is the only class that issues certificates.
 */
@NullMarked
package io.pmemcsi.operator.certs;

import org.jspecify.annotations.NullMarked;
