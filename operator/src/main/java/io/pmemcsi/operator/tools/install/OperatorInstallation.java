package io.pmemcsi.operator.tools.install;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.AffinityBuilder;
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
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentSpec;
import io.fabric8.kubernetes.api.model.apps.DeploymentSpecBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.pmemcsi.operator.objects.NetworkPolicies;
import io.pmemcsi.operator.objects.Pods;
import io.pmemcsi.operator.objects.Rbac;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Everything that has to be installed for the operator to run, except the CRDs.
 *
 * @param name of the account, the roles and the deployment
 * @param namespace of the operator and of the drivers
 * @param image of the operator, and of the drivers unless a resource overrides it
 */
public record OperatorInstallation(String name, String namespace, String image) {

  /** The image that is deployed unless another one is asked for. */
  public static final String DEFAULT_IMAGE = "pmem-csi-driver:canary";

  /** The usual name of the account, the roles and the deployment. */
  public static final String NAME = "pmem-csi-operator";

  /** The same in deploy/operator.yaml, as the first operator for drivers from templates had it. */
  public static final String TEMPLATE_NAME = "csi-operator";

  /** All names that installation files give to the deployment. */
  public static final List<String> NAMES = List.of(NAME, TEMPLATE_NAME);

  /** Where the operator's configuration is, in its own namespace. */
  public static final String CONFIG_MAP = NAME + "-config";

  /** The file in it. */
  public static final String CONFIG_KEY = "config.yaml";

  private static final int METRICS_PORT = 8080;
  private static final int PROBE_PERIOD_SECONDS = 10;
  private static final String CONFIG_DIRECTORY = "/etc/pmem-csi-operator";

  /** Under the usual name. */
  public OperatorInstallation(String namespace, String image) {
    this(NAME, namespace, image);
  }

  /** In the order in which to create them. */
  public List<HasMetadata> objects() {
    return Stream.of(List.of(namespaceOf(namespace)), permissions(), workload())
        .flatMap(List::stream)
        .toList();
  }

  /** A namespace in which hardened clusters accept the privileged pods of drivers. */
  public static HasMetadata namespaceOf(String name) {
    var labels = new TreeMap<String, String>();
    for (String mode : List.of("audit", "enforce", "warn")) {
      labels.put("pod-security.kubernetes.io/" + mode, "privileged");
    }
    return new NamespaceBuilder()
        .withNewMetadata()
        .withName(name)
        .withLabels(labels)
        .endMetadata()
        .build();
  }

  /** The account of the operator, with its roles. */
  public List<HasMetadata> permissions() {
    var permissions = new OperatorRbac();
    return List.of(
        Rbac.account(namespaced(name)),
        Rbac.role(namespaced(name), permissions.inOwnNamespace()),
        Rbac.binding(namespaced(name), name, List.of(name)),
        Rbac.clusterRole(wide(name), permissions.inCluster()),
        Rbac.clusterBinding(wide(name), name, namespace, name),
        Rbac.role(inDefault(name + "-event"), OperatorRbac.inDefaultNamespace()),
        new RoleBindingBuilder()
            .withMetadata(inDefault(name + "-event"))
            .withNewRoleRef(Rbac.GROUP, "Role", name + "-event")
            .withSubjects(Rbac.subject(namespace, name))
            .build());
  }

  /** The operator itself, with its configuration. */
  public List<HasMetadata> workload() {
    return List.of(configuration(), service(), networkPolicy(), deployment());
  }

  private NetworkPolicy networkPolicy() {
    return NetworkPolicies.ingress(namespaced(name), labels(), List.of(METRICS_PORT));
  }

  private ConfigMap configuration() {
    return new ConfigMapBuilder()
        .withMetadata(namespaced(configMap()))
        .withData(
            Map.of(
                CONFIG_KEY,
                "# Defaults for drivers from templates: see docs/template-drivers.md for the"
                    + " keys.\n"))
        .build();
  }

  private Service service() {
    return new ServiceBuilder()
        .withMetadata(namespaced(name + "-metrics"))
        .withNewSpec()
        .withSelector(labels())
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
    return new DeploymentBuilder().withMetadata(namespaced(name)).withSpec(spec()).build();
  }

  private DeploymentSpec spec() {
    return new DeploymentSpecBuilder()
        .withReplicas(1)
        .withSelector(new LabelSelectorBuilder().withMatchLabels(labels()).build())
        .withTemplate(template())
        .build();
  }

  private PodTemplateSpec template() {
    return new PodTemplateSpecBuilder()
        .withNewMetadata()
        .withLabels(new TreeMap<>(Map.of("app", name, "pmem-csi.intel.com/webhook", "ignore")))
        .withAnnotations(Map.of("pmem-csi.intel.com/scrape", "containers"))
        .endMetadata()
        .withSpec(podSpec())
        .build();
  }

  private PodSpec podSpec() {
    return new PodSpecBuilder()
        .withServiceAccountName(name)
        .withSecurityContext(Pods.nonRootOfImage())
        .withAffinity(spreadOverNodes())
        .withContainers(container())
        .withVolumes(Pods.emptyDir("tmp-dir"), configVolume())
        .build();
  }

  /** A second replica is of use only if it survives the node of the first. */
  private Affinity spreadOverNodes() {
    return new AffinityBuilder()
        .withNewPodAntiAffinity()
        .addNewPreferredDuringSchedulingIgnoredDuringExecution()
        .withWeight(100)
        .withNewPodAffinityTerm()
        .withNewLabelSelector()
        .withMatchLabels(labels())
        .endLabelSelector()
        .withTopologyKey("kubernetes.io/hostname")
        .endPodAffinityTerm()
        .endPreferredDuringSchedulingIgnoredDuringExecution()
        .endPodAntiAffinity()
        .build();
  }

  private Container container() {
    return new ContainerBuilder()
        .withName(name)
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
            Pods.variable("OPERATOR_NAME", name),
            Pods.variable("TERMINATION_LOG_PATH", "/dev/termination-log"))
        .withTerminationMessagePath("/dev/termination-log")
        .withPorts(Pods.port("metrics", METRICS_PORT))
        // on a busy node the JVM starts slowly, and must not be killed for that
        .withStartupProbe(Pods.httpProbe("/healthz", "metrics", 1, 300))
        .withLivenessProbe(Pods.httpProbe("/healthz", "metrics", PROBE_PERIOD_SECONDS, 5))
        .withReadinessProbe(Pods.httpProbe("/readyz", "metrics", PROBE_PERIOD_SECONDS, 3))
        .withSecurityContext(Pods.unprivileged())
        .withResources(resources())
        .withVolumeMounts(
            Pods.mount("tmp-dir", "/tmp"),
            new VolumeMountBuilder(Pods.mount("config", CONFIG_DIRECTORY))
                .withReadOnly(true)
                .build())
        .build();
  }

  /**
   * What the operator needs. The launcher ({@code bin/pmem-csi}) limits the heap to 152 MiB and
   * compiled code to 48 MiB; classes, threads and buffers add less than 150 MiB. The limit is above
   * that sum, so that a heap which is too small ends with the JVM's own message and exit code, not
   * with a kill: a change of {@code -Xmx} needs both numbers here changed. The request is what the
   * operator uses with some dozens of drivers. There is no CPU limit: the start would be throttled.
   */
  private static ResourceRequirements resources() {
    return new ResourceRequirementsBuilder()
        .addToRequests("cpu", new Quantity("50m"))
        .addToRequests("memory", new Quantity("192Mi"))
        .addToLimits("memory", new Quantity("384Mi"))
        .build();
  }

  private Volume configVolume() {
    return new VolumeBuilder()
        .withName("config")
        .withNewConfigMap()
        .withName(configMap())
        .endConfigMap()
        .build();
  }

  private Map<String, String> labels() {
    return Map.of("app", name);
  }

  private String configMap() {
    return name + "-config";
  }

  private ObjectMeta namespaced(String name) {
    return new ObjectMetaBuilder()
        .withName(name)
        .withNamespace(namespace)
        .withLabels(labels())
        .build();
  }

  private ObjectMeta wide(String name) {
    return new ObjectMetaBuilder().withName(name).withLabels(labels()).build();
  }

  private ObjectMeta inDefault(String name) {
    return new ObjectMetaBuilder()
        .withName(name)
        .withNamespace("default")
        .withLabels(labels())
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
