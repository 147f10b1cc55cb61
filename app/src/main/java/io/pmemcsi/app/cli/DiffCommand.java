package io.pmemcsi.app.cli;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapVolumeSource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.app.render.ResourceFile.Document;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.app.settings.ImageName;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.facts.Refusal;
import io.pmemcsi.operator.kinds.template.ConfigReader;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import io.pmemcsi.operator.runtime.ApiAccess;
import io.pmemcsi.operator.runtime.ConfigFile;
import io.pmemcsi.operator.runtime.KubeconfigContent;
import io.pmemcsi.operator.tools.diff.Preview;
import io.pmemcsi.operator.tools.diff.ResourceDiff;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.operator.tools.render.Rendering;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code pmem-csi diff}. */
@Command(
    name = "diff",
    mixinStandardHelpOptions = true,
    customSynopsis = "pmem-csi diff -f FILE [-f FILE]... [OPTIONS]",
    description = {
      "Shows what applying a resource would change on the cluster, without changing it.",
      "The server is asked by dry runs, which need the right to patch the objects; values of"
          + " secrets are hidden.%n"
    },
    footer = {
      "",
      "For example: pmem-csi diff -f deploy/samples/pmem-csi.yaml",
      "Exit codes, as those of kubectl diff: 0 no difference, 1 differences, 2 an error."
    })
final class DiffCommand implements Callable<Integer> {

  private static final int SAME = 0;
  private static final int DIFFERENT = 1;

  @Mixin private final ResourceFlags flags = new ResourceFlags();

  @Option(
      names = "--image",
      paramLabel = "IMAGE",
      order = 3,
      description =
          "The driver image where the resource names none (default: that of the operator in the"
              + " cluster).")
  private @Nullable String image;

  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      order = 4,
      description =
          "How to reach the cluster (default $KUBECONFIG, else the pod's own account, else"
              + " ~/.kube/config).")
  private String kubeconfig = "";

  @Option(
      names = "--config",
      paramLabel = "FILE",
      order = 5,
      description =
          "The operator's configuration for CSIDriverDeployment resources (default: that of the"
              + " operator in the cluster).")
  private String config = "";

  private final CliEnvironment environment;
  private final Rendering rendering = new Rendering();

  DiffCommand(CliEnvironment environment) {
    this.environment = environment;
  }

  /** One is the code for differences here, so that every failure has to end with another one. */
  @Override
  public Integer call() {
    try {
      return differences();
    } catch (UsageException e) {
      throw e;
    } catch (FatalException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    } catch (RuntimeException | Error e) {
      throw new UsageException("this should not have happened: " + e, e);
    }
  }

  private int differences() {
    List<HasMetadata> resources = new ArrayList<>();
    for (Document document : flags.documents(environment.in())) {
      resources.add(read(document));
    }
    String namespace = flags.namespace();
    Optional<ImageName> chosen =
        Optional.ofNullable(image).map(name -> Flag.required("--image", name, ImageName::new));
    Optional<OperatorConfig> given = given();
    Optional<KubeconfigContent> access =
        Kubeconfig.read(Kubeconfig.file(kubeconfig, environment), environment);
    boolean same = true;
    String server = "";
    try (KubernetesClient client = ApiAccess.client(access)) {
      server = client.getMasterUrl().toString();
      Optional<Deployment> operator = operator(client, namespace);
      var facts =
          new ClusterProbe(client)
              .facts(namespace, chosen.map(ImageName::value).orElseGet(() -> image(operator)));
      OperatorConfig defaults = given.orElseGet(() -> configured(client, namespace, operator));
      var preview = new Preview(client, facts, defaults, Clock.systemUTC());
      for (HasMetadata resource : resources) {
        ResourceDiff diff = preview.of(resource);
        environment.out().print(diff.describe());
        same &= diff.isEmpty();
      }
    } catch (KubernetesClientException e) {
      throw new UsageException(
          "the API server %s refuses or cannot be reached: %s; check --kubeconfig or KUBECONFIG"
              .formatted(server, Refusal.reason(e)),
          e);
    }
    environment.requireWritten();
    return same ? SAME : DIFFERENT;
  }

  private HasMetadata read(Document document) {
    try {
      HasMetadata resource = rendering.read(document.json());
      rendering.requireHandled(resource);
      return resource;
    } catch (UsageException | IllegalArgumentException e) {
      throw new FatalException("%s: %s".formatted(document.position(), e.getMessage()), e);
    }
  }

  private Optional<OperatorConfig> given() {
    return Flag.optional("--config", config, FilePath::parse)
        .map(
            file -> {
              try (var read = new ConfigFile(file)) {
                return read.get();
              }
            });
  }

  /** What the operator in the cluster has mounted. */
  private static OperatorConfig configured(
      KubernetesClient client, String namespace, Optional<Deployment> operator) {
    String name =
        operator.stream()
            .flatMap(found -> found.getSpec().getTemplate().getSpec().getVolumes().stream())
            .map(Volume::getConfigMap)
            .filter(Objects::nonNull)
            .map(ConfigMapVolumeSource::getName)
            .findFirst()
            .orElse(OperatorInstallation.CONFIG_MAP);
    ConfigMap found = client.configMaps().inNamespace(namespace).withName(name).get();
    String text =
        found == null || found.getData() == null
            ? null
            : found.getData().get(OperatorInstallation.CONFIG_KEY);
    try {
      return text == null ? OperatorConfig.DEFAULT : ConfigReader.read(text);
    } catch (IllegalArgumentException e) {
      throw new FatalException(
          "ConfigMap %s in namespace %s: %s".formatted(name, namespace, e.getMessage()), e);
    }
  }

  /** The image that the operator in the cluster gives to its drivers, which is its own. */
  private static String image(Optional<Deployment> operator) {
    return operator
        .map(found -> found.getSpec().getTemplate().getSpec().getContainers().getFirst().getImage())
        .orElse("pmem-csi-driver:" + Version.current());
  }

  /** Under the name that any of the installation files gives it. */
  private static Optional<Deployment> operator(KubernetesClient client, String namespace) {
    return OperatorInstallation.NAMES.stream()
        .map(name -> client.apps().deployments().inNamespace(namespace).withName(name).get())
        .filter(Objects::nonNull)
        .findFirst();
  }
}
