package io.pmemcsi.api.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.ComputeResources;
import io.pmemcsi.api.SharedRules;
import io.pmemcsi.api.StorageClassChecks;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.schema.StructuralSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds everything in a {@link CSIDriverDeployment} that cannot be carried out, whatever the server
 * has let through: the schema of the CRD, its rules in CEL, and what neither can express.
 */
public final class CSIDriverDeploymentChecks {

  static final String SOCKET_CEL =
      "!has(self.driverSocket) || !self.driverSocket.matches('(^|/)[.][.]?(/|$)')";
  static final String SOCKET = "driverSocket has a part . or ..: write the path without them";

  static final String SOCKET_PATTERN = "^(/[^/]+){2,}$";
  static final String SOCKET_PATH_CEL =
      "!has(self.driverSocket) || self.driverSocket == '' || self.driverSocket.matches('"
          + SOCKET_PATTERN
          + "')";
  static final String SOCKET_PATH =
      "driverSocket is not the absolute path of a file in a directory of its own: write it like"
          + " /run/csi/csi.sock";

  static final String CONTROLLER_SIDECARS_CEL =
      "has(self.driverControllerTemplate) || !has(self.sidecars)"
          + " || !((has(self.sidecars.resizer) && has(self.sidecars.resizer.enabled)"
          + " && self.sidecars.resizer.enabled)"
          + " || (has(self.sidecars.snapshotter) && has(self.sidecars.snapshotter.enabled)"
          + " && self.sidecars.snapshotter.enabled))";
  static final String CONTROLLER_SIDECARS =
      "resizer and snapshotter run in the controller pod: set driverControllerTemplate as well, or"
          + " disable them";

  static final String ATTACHER_CEL =
      "!(has(self.csiDriver) && has(self.csiDriver.attachRequired)"
          + " && self.csiDriver.attachRequired && has(self.sidecars)"
          + " && has(self.sidecars.attacher) && has(self.sidecars.attacher.enabled)"
          + " && !self.sidecars.attacher.enabled)";
  static final String ATTACHER =
      "csiDriver.attachRequired is true but the attacher is disabled, so no volume could be"
          + " mounted: enable sidecars.attacher, or set attachRequired to false";

  static final String TOKENS_CEL =
      "!(has(self.csiDriver) && has(self.csiDriver.serviceAccountTokenInSecrets)"
          + " && self.csiDriver.serviceAccountTokenInSecrets"
          + " && (!has(self.csiDriver.tokenRequests)"
          + " || self.csiDriver.tokenRequests.size() == 0))";
  static final String TOKENS =
      "csiDriver.serviceAccountTokenInSecrets is true but no token is requested: set"
          + " csiDriver.tokenRequests as well, or leave it out";

  /** What the 63 characters of a label's value leave for the name, besides -controller. */
  private static final int MAX_NAME_WITH_CONTROLLER = 52;

  static final String NAME_LENGTH_CEL =
      "!has(self.spec.driverControllerTemplate) || self.metadata.name.size() <= "
          + MAX_NAME_WITH_CONTROLLER;
  static final String NAME_LENGTH =
      "the name is too long for labels with -controller at its end: use at most "
          + MAX_NAME_WITH_CONTROLLER
          + " characters";

  private static final Pattern SOCKET_PATHS = Pattern.compile(SOCKET_PATTERN);
  private static final KubernetesSerialization JSON = new KubernetesSerialization();
  private static final StructuralSchema SCHEMA = StructuralSchema.of(CSIDriverDeployment.class);

  private CSIDriverDeploymentChecks() {}

  /** All violations of a resource; with none it can be turned into {@link TemplateSettings}. */
  public static List<Violation> check(CSIDriverDeployment resource) {
    JsonNode json = JSON.convertValue(resource, JsonNode.class);
    List<Violation> found = new ArrayList<>(SCHEMA.violations(json));
    found.addAll(ComputeResources.check(json));
    CSIDriverDeploymentSpec spec = resource.getSpec();
    found.addAll(name(resource));
    found.addAll(StorageClassChecks.check(spec.storageClassTemplates()));
    found.addAll(PodTemplateChecks.check(spec));
    if (spec.driverPerNodeTemplate() == null) {
      found.add(
          new Violation(
              "spec.driverPerNodeTemplate", "", "is missing: set it to the driver's pod template"));
    }
    if (Written.text(spec.driverSocket()).isEmpty()) {
      found.add(
          new Violation(
              "spec.driverSocket", "", "is missing: set it to the path of the driver's socket"));
    }
    found.addAll(socket(spec));
    found.addAll(ContainerImagesChecks.check(spec));
    if (spec.driverControllerTemplate() == null
        && (sidecarEnabled(spec, Sidecars::resizer)
            || sidecarEnabled(spec, Sidecars::snapshotter))) {
      found.add(new Violation("spec", "", CONTROLLER_SIDECARS));
    }
    if (attachWithoutAttacher(spec)) {
      found.add(new Violation("spec", "", ATTACHER));
    }
    if (secretTokensWithoutRequest(spec)) {
      found.add(new Violation("spec", "", TOKENS));
    }
    return List.copyOf(found);
  }

  private static boolean secretTokensWithoutRequest(CSIDriverDeploymentSpec spec) {
    CSIDriverOptions options = spec.csiDriver();
    return options != null
        && Boolean.TRUE.equals(options.serviceAccountTokenInSecrets())
        && (options.tokenRequests() == null || options.tokenRequests().isEmpty());
  }

  private static List<Violation> socket(CSIDriverDeploymentSpec spec) {
    List<Violation> found = new ArrayList<>();
    Written.text(spec.driverSocket())
        .ifPresent(
            socket -> {
              if (SharedRules.hasDots(socket)) {
                found.add(new Violation("spec", socket, SOCKET));
              }
              if (!SOCKET_PATHS.matcher(socket).matches()) {
                found.add(new Violation("spec", socket, SOCKET_PATH));
              }
            });
    return found;
  }

  private static boolean sidecarEnabled(
      CSIDriverDeploymentSpec spec, Function<Sidecars, @Nullable OptionalSidecar> which) {
    return Optional.ofNullable(spec.sidecars())
        .map(which)
        .map(OptionalSidecar::enabled)
        .orElse(false);
  }

  private static boolean attachWithoutAttacher(CSIDriverDeploymentSpec spec) {
    boolean attachRequired =
        Optional.ofNullable(spec.csiDriver()).map(CSIDriverOptions::attachRequired).orElse(false);
    boolean attacher =
        Optional.ofNullable(spec.sidecars())
            .map(Sidecars::attacher)
            .map(OptionalSidecar::enabled)
            .orElse(true);
    return attachRequired && !attacher;
  }

  /**
   * Workloads carry their own names, derived from the resource's, as values of labels. The schema
   * has the limit for those on the nodes.
   */
  private static List<Violation> name(CSIDriverDeployment resource) {
    String name = Optional.ofNullable(resource.getMetadata()).map(ObjectMeta::getName).orElse("");
    Optional<Violation> unusable = SharedRules.name(name);
    if (unusable.isPresent()) {
      return List.of(unusable.get());
    }
    boolean controller = resource.getSpec().driverControllerTemplate() != null;
    return controller && name.length() > MAX_NAME_WITH_CONTROLLER
        ? List.of(new Violation("metadata.name", name, NAME_LENGTH))
        : List.of();
  }
}
