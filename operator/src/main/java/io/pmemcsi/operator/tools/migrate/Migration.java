package io.pmemcsi.operator.tools.migrate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.legacy.LegacyDeploymentChecks;
import io.pmemcsi.api.legacy.LegacySettings;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentSpec;
import io.pmemcsi.api.yaml.YamlWriter;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.UsageException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A PmemCSIDeployment for the driver of a Deployment v1alpha1. It finds the volumes of that driver,
 * because driver name, device mode and the state directory on the nodes stay the same.
 *
 * @param remarks what has no counterpart or works differently, one sentence each
 */
public record Migration(PmemCSIDeployment resource, List<String> remarks) {

  private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();

  private static final List<String> CERTIFICATES =
      List.of("caCert", "registryCert", "registryKey", "nodeControllerCert", "nodeControllerKey");

  private static final List<String> WITHOUT_COUNTERPART =
      Stream.concat(Stream.of("driverName", "controllerResources"), CERTIFICATES.stream()).toList();

  public Migration {
    remarks = List.copyOf(remarks);
  }

  /** Migrates a resource of the cluster. */
  public static Migration of(KubernetesClient client, String name) {
    LegacyDeployment found = client.resources(LegacyDeployment.class).withName(name).get();
    if (found == null) {
      throw new FatalException(
          "there is no deployments.pmem-csi.intel.com \"%s\": 'kubectl get deployments.pmem-csi.intel.com' lists them"
              .formatted(name));
    }
    List<Violation> violations = LegacyDeploymentChecks.check(found);
    if (!violations.isEmpty()) {
      throw new FatalException(
          "%s: correct it first"
              .formatted(
                  violations.stream().map(Violation::message).collect(Collectors.joining("; "))));
    }
    return of(found);
  }

  /** Migrates a resource that has been read and checked. */
  public static Migration of(HasMetadata given) {
    if (!(given instanceof LegacyDeployment legacy)) {
      throw new UsageException(
          "%s %s cannot be migrated: name a Deployment of pmem-csi.intel.com/v1alpha1"
              .formatted(given.getApiVersion(), given.getKind()));
    }
    String driver = LegacySettings.of(legacy).driver().value();
    var resource = new PmemCSIDeployment();
    resource.setMetadata(
        new ObjectMetaBuilder()
            .withName(driver)
            .withLabels(legacy.getMetadata().getLabels())
            .withAnnotations(annotations(legacy))
            .build());
    ObjectNode spec = SERIALIZATION.convertValue(legacy.getSpec(), ObjectNode.class);
    var remarks = remarks(legacy, driver, spec);
    spec.remove(WITHOUT_COUNTERPART);
    resource.setSpec(SERIALIZATION.convertValue(spec, PmemCSIDeploymentSpec.class));
    return new Migration(resource, remarks);
  }

  private static Map<String, String> annotations(LegacyDeployment legacy) {
    Map<String, String> written = legacy.getMetadata().getAnnotations();
    var kept = new HashMap<String, String>(written == null ? Map.of() : written);
    kept.remove("kubectl.kubernetes.io/last-applied-configuration");
    kept.remove(PmemCSIDeployment.FORCE_DELETION_ANNOTATION);
    return kept;
  }

  private static List<String> remarks(LegacyDeployment legacy, String driver, JsonNode spec) {
    var remarks = new ArrayList<String>();
    String name = legacy.getMetadata().getName();
    if (!driver.equals(name)) {
      remarks.add(
          "The resource and its objects are named after the driver: %s instead of %s."
              .formatted(driver, name));
    }
    if (spec.has("controllerResources")) {
      remarks.add(
          "controllerResources has no counterpart: volumes are provisioned on each node, by a"
              + " container with provisionerResources.");
    }
    List<String> certificates = CERTIFICATES.stream().filter(spec::has).toList();
    if (!certificates.isEmpty()) {
      remarks.add(
          "%s: no counterpart, because no controller calls the nodes any more."
              .formatted(String.join(", ", certificates)));
    }
    if (spec.has("image")) {
      remarks.add("image is kept: it must be an image of the release of the operator.");
    }
    if (spec.has("provisionerImage")) {
      remarks.add(
          "provisionerImage is kept: it must support --node-deployment, as csi-provisioner 2.1 and"
              + " later do.");
    }
    return remarks;
  }

  /** The resource, ready for {@code kubectl apply}, with the remarks as comments. */
  public String yaml() {
    ObjectNode document = SERIALIZATION.convertValue(resource, ObjectNode.class);
    document.remove("status");
    return remarks.stream().map("# %s\n"::formatted).collect(Collectors.joining())
        + YamlWriter.write(document);
  }
}
