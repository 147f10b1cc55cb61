package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;

/** A server-side apply that the server validates but does not store. */
final class DryRun {

  private DryRun() {}

  /** The object as it would be. */
  static HasMetadata apply(HasMetadata desired, String fieldManager, KubernetesClient client) {
    return client
        .resource(desired)
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                .withFieldManager(fieldManager)
                .withForce(true)
                .withDryRun(List.of("All"))
                .build(),
            desired);
  }
}
