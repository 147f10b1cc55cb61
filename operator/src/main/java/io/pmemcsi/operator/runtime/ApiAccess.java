package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.error.UsageException;
import java.nio.file.Files;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The way to the API server. */
public final class ApiAccess {

  // about a second: callers retry anyway, and a wrong address must not appear as a hang
  private static final int RETRIES = 4;

  private ApiAccess() {}

  /**
   * A new client.
   *
   * @param kubeconfig empty for the service account of the pod, or the kubeconfig of the
   *     environment
   */
  public static KubernetesClient client(Optional<KubeconfigContent> kubeconfig) {
    try {
      Config config =
          kubeconfig.map(ApiAccess::config).orElseGet(() -> new ConfigBuilder().build());
      config.setRequestRetryBackoffLimit(RETRIES);
      return new KubernetesClientBuilder()
          .withConfig(config)
          .withHttpClientBuilderConsumer(
              http -> http.addOrReplaceInterceptor("watches in ASCII", new AsciiWatchInterceptor()))
          .build();
    } catch (RuntimeException e) {
      throw new UsageException(
          "%s cannot be used: %s; correct it or name another file with --kubeconfig or KUBECONFIG"
              .formatted(
                  kubeconfig
                      .map(KubeconfigContent::toString)
                      .orElse("the kubeconfig or account of this machine"),
                  Reason.withFile(e)),
          e);
    }
  }

  /**
   * A client reads a file again when its token has expired, because there may be a new one; paths
   * in it are relative to its directory. A pipe can be read only once.
   */
  private static Config config(KubeconfigContent kubeconfig) {
    @Nullable String context = kubeconfig.context().orElse(null);
    return Files.isRegularFile(kubeconfig.file())
        ? Config.fromKubeconfig(context, kubeconfig.file().toFile())
        : Config.fromKubeconfig(kubeconfig.text());
  }
}
