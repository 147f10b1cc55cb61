package io.pmemcsi.app.cli;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.app.render.ResourceFile.Document;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.app.settings.ImageName;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.tools.render.Rendering;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code pmem-csi render}. */
@Command(
    name = "render",
    mixinStandardHelpOptions = true,
    customSynopsis = "pmem-csi render -f FILE [-f FILE]... [OPTIONS]",
    description = {
      "Prints the objects that the operator would make for a resource, with no cluster.",
      ""
    },
    footer = {
      "",
      "For example: pmem-csi render -f deploy/samples/pmem-csi.yaml --kubernetes-version 1.30"
    })
final class RenderCommand implements Callable<Integer> {

  @Mixin private final ResourceFlags resources = new ResourceFlags();

  @Option(
      names = "--kubernetes-version",
      paramLabel = "VERSION",
      order = 3,
      description = "The version of the server, for example 1.30 (default: the newest known).")
  private String kubernetesVersion = KubernetesVersion.NEWEST_KNOWN.toString();

  @Option(
      names = "--image",
      paramLabel = "IMAGE",
      order = 4,
      description =
          "The driver image where the resource names none (default: pmem-csi-driver and the version"
              + " of this program).")
  private String image = "pmem-csi-driver:" + Version.current();

  private final CliEnvironment environment;

  RenderCommand(CliEnvironment environment) {
    this.environment = environment;
  }

  @Override
  public Integer call() {
    KubernetesVersion version =
        Flag.required("--kubernetes-version", kubernetesVersion, RenderCommand::known);
    ClusterFacts facts =
        ClusterFacts.assumed(
            version,
            resources.namespace(),
            Flag.required("--image", image, ImageName::new).value());
    // not before it is needed: every other command would load half of a Kubernetes client for it
    Rendering rendering = new Rendering();
    List<String> rendered =
        resources.documents(environment.in()).stream()
            .map(document -> rendering.yaml(objects(rendering, document, facts)))
            .toList();
    rendered.forEach(environment.out()::print);
    return 0;
  }

  private static KubernetesVersion known(String text) {
    KubernetesVersion version = KubernetesVersion.parse(text);
    if (version.compareTo(KubernetesVersion.OLDEST) < 0) {
      throw new IllegalArgumentException(
          "the oldest supported version is " + KubernetesVersion.OLDEST);
    }
    return version;
  }

  /** The content of a file is not the command line: what is wrong there is exit code 1. */
  private static List<HasMetadata> objects(
      Rendering rendering, Document document, ClusterFacts facts) {
    try {
      return rendering.objects(rendering.read(document.json()), facts);
    } catch (UsageException | IllegalArgumentException e) {
      throw new FatalException("%s: %s".formatted(document.position(), e.getMessage()), e);
    }
  }
}
