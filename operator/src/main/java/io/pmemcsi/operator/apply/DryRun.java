package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;

/** A server-side apply that the server judges and then forgets. */
final class DryRun {

  private DryRun() {}

  /** Returns the object as it would be. */
  static HasMetadata apply(HasMetadata wanted, String fieldManager, KubernetesClient client) {
    return client
        .resource(wanted)
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                .withFieldManager(fieldManager)
                .withForce(true)
                .withDryRun(List.of("All"))
                .build(),
            wanted);
  }
}
