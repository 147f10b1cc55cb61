package io.pmemcsi.app.settings;

import io.pmemcsi.base.error.UsageException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How the API server is found and how often it is asked.
 *
 * @param kubeconfig empty for the pod's own account, or the user's usual configuration
 * @param queriesPerSecond lasting rate of calls
 * @param burst calls that may come at once
 */
public record KubernetesAccess(Optional<Path> kubeconfig, double queriesPerSecond, int burst) {

  public KubernetesAccess {
    if (!(queriesPerSecond > 0) || burst < 1) {
      throw new UsageException(
          "-kube-api-qps=%s and -kube-api-burst=%d have to be positive"
              .formatted(queriesPerSecond, burst));
    }
  }
}
