package io.pmemcsi.operator.tools.install;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentSpec;
import io.fabric8.kubernetes.api.model.apps.DeploymentSpecBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.pmemcsi.operator.objects.Pods;
import io.pmemcsi.operator.objects.Rbac;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Everything that has to be installed for the operator to run, except the CRDs.
 *
 * @param namespace of the operator and of the drivers
 * @param image of the operator, and of the drivers unless a resource overrides it
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

  private static final int METRICS_PORT = 8080;
  private static final int PROBE_PERIOD_SECONDS = 10;
  private static final String CONFIG_DIRECTORY = "/etc/pmem-csi-operator";
  private static final Map<String, String> LABELS = Map.of("app", NAME);
  private static final long USER = 1000;

  /** In the order in which to create them. */
  public List<HasMetadata> objects() {
    var permissions = new OperatorRbac();
    return List.of(
        new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build(),
        Rbac.account(namespaced(NAME)),
        Rbac.role(namespaced(NAME), permissions.inOwnNamespace()),
        Rbac.binding(namespaced(NAME), NAME, List.of(NAME)),
        Rbac.clusterRole(wide(NAME), permissions.inCluster()),
        Rbac.clusterBinding(wide(NAME), NAME, namespace, NAME),
        Rbac.role(inDefault(NAME + "-event"), OperatorRbac.inDefaultNamespace()),
        new RoleBindingBuilder()
            .withMetadata(inDefault(NAME + "-event"))
            .withNewRoleRef(Rbac.GROUP, "Role", NAME + "-event")
            .withSubjects(Rbac.subject(namespace, NAME))
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
    return new DeploymentBuilder().withMetadata(namespaced(NAME)).withSpec(spec()).build();
  }

  private DeploymentSpec spec() {
    return new DeploymentSpecBuilder()
        .withReplicas(1)
        .withSelector(new LabelSelectorBuilder().withMatchLabels(LABELS).build())
        .withTemplate(template())
        .build();
  }

  private PodTemplateSpec template() {
    return new PodTemplateSpecBuilder()
        .withNewMetadata()
        .withLabels(new TreeMap<>(Map.of("app", NAME, "pmem-csi.intel.com/webhook", "ignore")))
        .withAnnotations(Map.of("pmem-csi.intel.com/scrape", "containers"))
        .endMetadata()
        .withSpec(podSpec())
        .build();
  }

  private PodSpec podSpec() {
    return new PodSpecBuilder()
        .withServiceAccountName(NAME)
        .withNewSecurityContext()
        .withRunAsNonRoot(true)
        .withRunAsUser(USER)
        .endSecurityContext()
        .withContainers(container())
        .withVolumes(Pods.emptyDir("tmp-dir"), configVolume())
        .build();
  }

  private Container container() {
    return new ContainerBuilder()
        .withName(NAME)
        .withImage(image)
        .withImagePullPolicy("IfNotPresent")
        .withCommand("/usr/local/bin/pmem-csi-operator")
        .withArgs(
            "-v=3",
            "-leader-election",
            "-metrics-addr=:" + METRICS_PORT,
            "-config=" + CONFIG_DIRECTORY + "/" + CONFIG_KEY)
        .withEnv(
            field("WATCH_NAMESPACE", "metadata.namespace"),
            field("POD_NAME", "metadata.name"),
            Pods.variable("OPERATOR_NAME", NAME),
            Pods.variable("TERMINATION_LOG_PATH", "/dev/termination-log"))
        .withTerminationMessagePath("/dev/termination-log")
        .withPorts(Pods.port("metrics", METRICS_PORT))
        // on a busy node the JVM starts slowly, and must not be killed for that
        .withStartupProbe(Pods.httpProbe("/healthz", "metrics", 1, 300))
        .withLivenessProbe(Pods.httpProbe("/healthz", "metrics", PROBE_PERIOD_SECONDS, 5))
        .withReadinessProbe(Pods.httpProbe("/readyz", "metrics", PROBE_PERIOD_SECONDS, 3))
        .withSecurityContext(securityContext())
        .withNewResources()
        .addToRequests("cpu", new Quantity("50m"))
        .addToRequests("memory", new Quantity("192Mi"))
        .endResources()
        .withVolumeMounts(
            Pods.mount("tmp-dir", "/tmp"),
            new VolumeMountBuilder(Pods.mount("config", CONFIG_DIRECTORY))
                .withReadOnly(true)
                .build())
        .build();
  }

  private static SecurityContext securityContext() {
    return new SecurityContextBuilder()
        .withReadOnlyRootFilesystem(true)
        .withAllowPrivilegeEscalation(false)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .build();
  }

  private static Volume configVolume() {
    return new VolumeBuilder()
        .withName("config")
        .withNewConfigMap()
        .withName(CONFIG_MAP)
        .endConfigMap()
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
