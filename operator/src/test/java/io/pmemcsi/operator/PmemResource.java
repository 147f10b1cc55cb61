package io.pmemcsi.operator;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.pmem.PmemCSIDeployment;

/** Reads a PmemCSIDeployment from the text of its spec, without validation. */
public final class PmemResource {

  private static final KubernetesSerialization YAML = new KubernetesSerialization();

  private PmemResource() {}

  /**
   * Reads it.
   *
   * @param spec in YAML, what stands between the braces
   */
  public static PmemCSIDeployment of(String name, String spec) {
    PmemCSIDeployment resource =
        YAML.unmarshal(
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            spec: {%s}
            """
                .formatted(spec),
            PmemCSIDeployment.class);
    resource.setMetadata(new ObjectMetaBuilder().withName(name).build());
    return resource;
  }
}
