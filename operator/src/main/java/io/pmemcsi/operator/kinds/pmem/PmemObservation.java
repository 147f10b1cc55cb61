package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.pmemcsi.operator.pmemdriver.DriverObservation;
import io.pmemcsi.operator.pmemdriver.LostVolumes;
import java.util.Optional;

/**
 * What the decision about a PmemCSIDeployment depends on.
 *
 * @param webhookHasAnswered so that pods may depend on it
 * @param webhook as it is now
 * @param lost volumes on nodes that do not exist any more
 */
record PmemObservation(
    DriverObservation driver,
    boolean webhookHasAnswered,
    Optional<MutatingWebhookConfiguration> webhook,
    LostVolumes lost) {}
