package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.facts.ClusterFacts;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** What the operator would want of a resource on the cluster that is there. */
public final class PmemPreview {

  private PmemPreview() {}

  /** Of which kinds the operator may own objects. */
  public static List<Class<? extends HasMetadata>> kinds() {
    return PmemEventSources.KINDS;
  }

  /**
   * The blueprint with what is on the cluster: certificates, and a webhook that answers or not.
   *
   * @param secrets finds a secret in the operator's namespace
   * @param controllers finds a deployment there
   * @param webhooks finds the configuration of a webhook
   */
  public static DesiredState blueprint(
      PmemCSIDeployment resource,
      ClusterFacts facts,
      Function<String, Optional<Secret>> secrets,
      Function<String, Optional<Deployment>> controllers,
      Function<String, Optional<MutatingWebhookConfiguration>> webhooks,
      Instant now) {
    PmemSettings settings = PmemSettings.of(resource);
    PmemCertificates.Prepared prepared =
        new PmemCertificates(settings, facts, now).prepare(secrets, secrets);
    prepared
        .failure()
        .ifPresent(
            failure -> {
              throw new FatalException("the operator would refuse it: " + failure);
            });
    var names = new PmemNames(settings.driver());
    boolean answering =
        Components.webhookAnswers(
            controllers.apply(names.controller()), webhooks.apply(names.webhookConfiguration()));
    return PmemDesiredState.of(
        settings, facts, prepared.certificates(), prepared.secrets(), answering);
  }
}
