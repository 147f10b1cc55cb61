package io.pmemcsi.operator.tools.install;

import io.pmemcsi.api.schema.CustomResourceDefinitions;
import io.pmemcsi.api.template.CSIDriverDeployment;
import java.util.List;

/**
 * The operator as YAML: all of it in one file, and, under the names of the first operator for
 * drivers from templates, what it needs apart from itself.
 */
final class OperatorFiles {

  static final String NAMESPACE = "pmem-csi";

  private OperatorFiles() {}

  static List<GeneratedFile> all() {
    var operator = new OperatorInstallation(NAMESPACE, OperatorInstallation.DEFAULT_IMAGE);
    var templates =
        new OperatorInstallation(
            OperatorInstallation.TEMPLATE_NAME,
            OperatorInstallation.TEMPLATE_NAME,
            OperatorInstallation.DEFAULT_IMAGE);
    return List.of(
        GeneratedFile.of("operator/pmem-csi-operator.yaml", operator.objects()),
        GeneratedFile.copyOf(
            "crd/" + CustomResourceDefinitions.fileName(CSIDriverDeployment.class),
            "prerequisites/01-crd.yaml"),
        GeneratedFile.of(
            "prerequisites/02-namespace.yaml",
            List.of(OperatorInstallation.namespaceOf(templates.namespace()))),
        GeneratedFile.of("prerequisites/03-rbac.yaml", templates.permissions()),
        GeneratedFile.of("operator.yaml", templates.workload()));
  }
}
