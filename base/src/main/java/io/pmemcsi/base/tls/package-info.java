/**
 * What all TLS servers and clients of the program have in common: how certificates and keys are
 * read from PEM files, which protocol versions and cipher suites are used, and by which names the
 * two sides of central provisioning recognize each other. Start reading at {@link
 * io.pmemcsi.base.tls.CertificateAndKey}.
 */
@NullMarked
package io.pmemcsi.base.tls;

import org.jspecify.annotations.NullMarked;
