package io.pmemcsi.operator.kinds.pmem;

import java.util.Optional;

/**
 * The certificates with which the controller runs.
 *
 * @param secretName of the secret that the pod mounts
 * @param caBundle the authority as the webhook configuration wants it, base64-encoded PEM; empty
 *     where it is not known yet or where somebody else fills it in
 * @param issuedByOpenShift whether OpenShift makes the secret and fills in the authority
 */
public record ControllerCertificates(
    String secretName, Optional<String> caBundle, boolean issuedByOpenShift) {}
