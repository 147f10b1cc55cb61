package io.pmemcsi.operator.tools.install;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Subject;
import io.fabric8.kubernetes.api.model.rbac.SubjectBuilder;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Everything that has to be installed for the operator to run, except the CRDs.
 *
 * @param namespace of the operator and of the drivers
 * @param image of the operator, and of the drivers unless a resource says otherwise
 */
public record OperatorInstallation(String namespace, String image) {

  /** The image that is deployed unless another one is asked for. */
  public static final String DEFAULT_IMAGE = "pmem-csi-driver:canary";

  /** Of the account, the roles and the deployment. */
  public static final String NAME = "pmem-csi-operator";

  /** Where the operator's configuration is, in its own namespace. */
  public static final String CONFIG_MAP = NAME + "-config";

  /** The file in it. */
  public static final String CONFIG_KEY = "config.yaml";

  private static final String RBAC = "rbac.authorization.k8s.io";
  private static final int METRICS_PORT = 8080;
  private static final String CONFIG_FOLDER = "/etc/pmem-csi-operator";
  private static final Map<String, String> LABELS = Map.of("app", NAME);
  private static final long USER = 1000;

  /** In the order in which to create them. */
  public List<HasMetadata> objects() {
    var rights = new OperatorRbac();
    return List.of(
        new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build(),
        new ServiceAccountBuilder().withMetadata(namespaced(NAME)).build(),
        new RoleBuilder().withMetadata(namespaced(NAME)).withRules(rights.inOwnNamespace()).build(),
        new RoleBindingBuilder()
            .withMetadata(namespaced(NAME))
            .withNewRoleRef(RBAC, "Role", NAME)
            .withSubjects(account())
            .build(),
        new ClusterRoleBuilder().withMetadata(wide(NAME)).withRules(rights.inCluster()).build(),
        new ClusterRoleBindingBuilder()
            .withMetadata(wide(NAME))
            .withNewRoleRef(RBAC, "ClusterRole", NAME)
            .withSubjects(account())
            .build(),
        new RoleBuilder()
            .withMetadata(inDefault(NAME + "-event"))
            .withRules(OperatorRbac.inDefaultNamespace())
            .build(),
        new RoleBindingBuilder()
            .withMetadata(inDefault(NAME + "-event"))
            .withNewRoleRef(RBAC, "Role", NAME + "-event")
            .withSubjects(account())
            .build(),
        configuration(),
        service(),
        deployment());
  }

  private ConfigMap configuration() {
    return new ConfigMapBuilder()
        .withMetadata(namespaced(CONFIG_MAP))
        .withData(
            Map.of(
                CONFIG_KEY,
                "# Defaults for drivers from templates: see docs/template-drivers.md for the"
                    + " keys.\n"))
        .build();
  }

  private Service service() {
    return new ServiceBuilder()
        .withMetadata(namespaced(NAME + "-metrics"))
        .withNewSpec()
        .withSelector(LABELS)
        .addNewPort()
        .withName("metrics")
        .withProtocol("TCP")
        .withPort(METRICS_PORT)
        .withTargetPort(new IntOrString("metrics"))
        .endPort()
        .endSpec()
        .build();
  }

  private Deployment deployment() {
    return new DeploymentBuilder()
        .withMetadata(namespaced(NAME))
        .withNewSpec()
        .withReplicas(1)
        .withNewSelector()
        .withMatchLabels(LABELS)
        .endSelector()
        .withNewTemplate()
        .withNewMetadata()
        .withLabels(new TreeMap<>(Map.of("app", NAME, "pmem-csi.intel.com/webhook", "ignore")))
        .withAnnotations(Map.of("pmem-csi.intel.com/scrape", "containers"))
        .endMetadata()
        .withNewSpec()
        .withServiceAccountName(NAME)
        .withNewSecurityContext()
        .withRunAsNonRoot(true)
        .withRunAsUser(USER)
        .endSecurityContext()
        .addNewContainer()
        .withName(NAME)
        .withImage(image)
        .withImagePullPolicy("IfNotPresent")
        .withCommand("/usr/local/bin/pmem-csi-operator")
        .withArgs(
            "-v=3",
            "-leader-election",
            "-metrics-addr=:" + METRICS_PORT,
            "-config=" + CONFIG_FOLDER + "/" + CONFIG_KEY)
        .withEnv(
            field("WATCH_NAMESPACE", "metadata.namespace"),
            field("POD_NAME", "metadata.name"),
            value("OPERATOR_NAME", NAME),
            value("TERMINATION_LOG_PATH", "/dev/termination-log"))
        .withTerminationMessagePath("/dev/termination-log")
        .addNewPort()
        .withName("metrics")
        .withContainerPort(METRICS_PORT)
        .withProtocol("TCP")
        .endPort()
        .withLivenessProbe(probe("/healthz", 5))
        .withReadinessProbe(probe("/readyz", 3))
        .withNewSecurityContext()
        .withReadOnlyRootFilesystem(true)
        .withAllowPrivilegeEscalation(false)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .withNewResources()
        .addToRequests("cpu", new Quantity("50m"))
        .addToRequests("memory", new Quantity("192Mi"))
        .endResources()
        .addNewVolumeMount()
        .withName("tmp-dir")
        .withMountPath("/tmp")
        .endVolumeMount()
        .addNewVolumeMount()
        .withName("config")
        .withMountPath(CONFIG_FOLDER)
        .withReadOnly(true)
        .endVolumeMount()
        .endContainer()
        .addNewVolume()
        .withName("tmp-dir")
        .withNewEmptyDir()
        .endEmptyDir()
        .endVolume()
        .addNewVolume()
        .withName("config")
        .withNewConfigMap()
        .withName(CONFIG_MAP)
        .endConfigMap()
        .endVolume()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  private Subject account() {
    return new SubjectBuilder()
        .withKind("ServiceAccount")
        .withName(NAME)
        .withNamespace(namespace)
        .build();
  }

  private ObjectMeta namespaced(String name) {
    return new ObjectMetaBuilder()
        .withName(name)
        .withNamespace(namespace)
        .withLabels(LABELS)
        .build();
  }

  private static ObjectMeta wide(String name) {
    return new ObjectMetaBuilder().withName(name).withLabels(LABELS).build();
  }

  private static ObjectMeta inDefault(String name) {
    return new ObjectMetaBuilder()
        .withName(name)
        .withNamespace("default")
        .withLabels(LABELS)
        .build();
  }

  private static Probe probe(String path, int failures) {
    return new ProbeBuilder()
        .withNewHttpGet()
        .withPath(path)
        .withPort(new IntOrString("metrics"))
        .endHttpGet()
        .withPeriodSeconds(10)
        .withTimeoutSeconds(5)
        .withFailureThreshold(failures)
        .build();
  }

  private static EnvVar value(String name, String value) {
    return new EnvVarBuilder().withName(name).withValue(value).build();
  }

  private static EnvVar field(String name, String path) {
    return new EnvVarBuilder()
        .withName(name)
        .withNewValueFrom()
        .withNewFieldRef()
        .withFieldPath(path)
        .endFieldRef()
        .endValueFrom()
        .build();
  }
}
