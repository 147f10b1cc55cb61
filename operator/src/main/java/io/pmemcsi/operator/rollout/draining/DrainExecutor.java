package io.pmemcsi.operator.rollout.draining;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.Client;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.facts.Refusal;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes the actions of a plan. Each action names the version of the object that was observed; if
 * it changed since, the server rejects the write, and the next reconciliation plans again.
 */
final class DrainExecutor {

  private static final Logger LOG = LoggerFactory.getLogger(DrainExecutor.class);
  private static final int TOO_MANY_REQUESTS = 429;
  private static final ObjectMapper JSON = new ObjectMapper();

  private enum Cordoning {
    SET,
    LIFT,
    KEEP
  }

  private final KubernetesClient client;
  private final Client withoutRetries;
  private final Supplier<KubernetesVersion> version;

  DrainExecutor(KubernetesClient client, Supplier<KubernetesVersion> version) {
    this.client = client;
    // a refused eviction is a result; the next reconciliation tries again
    this.withoutRetries =
        client.newClient(new RequestConfigBuilder().withRequestRetryBackoffLimit(0).build());
    this.version = version;
  }

  /**
   * Executes all actions as far as possible.
   *
   * @return errors by node
   */
  Map<String, String> execute(String driver, List<DrainAction> actions) {
    var refusals = new TreeMap<String, String>();
    var skipped = new HashSet<String>();
    for (DrainAction action : actions) {
      String node = action.node().name();
      if (!skipped.contains(node)) {
        execute(driver, action, refusals, skipped);
      }
    }
    return refusals;
  }

  private void execute(
      String driver, DrainAction action, Map<String, String> refusals, Set<String> skipped) {
    String node = action.node().name();
    try {
      execute(driver, action);
    } catch (KubernetesClientException e) {
      switch (e.getCode()) {
        case HTTP_NOT_FOUND, HTTP_CONFLICT -> skipped.add(node);
        case TOO_MANY_REQUESTS -> refusals.putIfAbsent(node, refused(action, e));
        default -> {
          skipped.add(node);
          refusals.putIfAbsent(node, refused(action, e));
          LOG.atWarn()
              .addKeyValue("node", node)
              .addKeyValue("driver", driver)
              .addKeyValue("action", action.getClass().getSimpleName())
              .setCause(e)
              .log("Node update action failed, will retry.");
        }
      }
    }
  }

  private void execute(String driver, DrainAction action) {
    switch (action) {
      case DrainAction.Cordon cordon -> {
        annotate(cordon.node(), driver, cordon.annotation().text(), Cordoning.SET);
        log(driver, cordon, "Node cordoned to update the driver.");
      }
      case DrainAction.SetStep setStep ->
          annotate(setStep.node(), driver, setStep.annotation().text(), Cordoning.KEEP);
      case DrainAction.Evict evict -> {
        evict(evict.pod());
        log(driver, evict, "Pod evicted: " + evict.pod().qualifiedName());
      }
      case DrainAction.RestartDriver restart -> {
        delete(restart.pod());
        log(driver, restart, "Driver pod deleted: " + restart.pod().name());
      }
      case DrainAction.Uncordon uncordon -> {
        annotate(
            uncordon.node(),
            driver,
            null,
            uncordon.schedulable() ? Cordoning.LIFT : Cordoning.KEEP);
        log(driver, uncordon, "Node released.");
      }
    }
  }

  /** One write for annotation and cordon, so that one never exists without the other. */
  private void annotate(
      WorkerNode node, String driver, @Nullable String annotation, Cordoning cordoning) {
    ObjectNode patch = JSON.createObjectNode();
    ObjectNode metadata = patch.putObject("metadata");
    // the cordon of another driver may have changed: write only to the observed version
    metadata.put("resourceVersion", node.version());
    metadata.putObject("annotations").put(DrainAnnotation.key(driver), annotation);
    switch (cordoning) {
      case SET -> patch.putObject("spec").put("unschedulable", true);
      case LIFT -> patch.putObject("spec").putNull("unschedulable");
      case KEEP -> {}
    }
    client
        .nodes()
        .withName(node.name())
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch.toString());
  }

  private void evict(VolumeConsumer pod) {
    ObjectNode eviction = JSON.createObjectNode();
    eviction.put("apiVersion", version.get().atLeast(1, 22) ? "policy/v1" : "policy/v1beta1");
    eviction.put("kind", "Eviction");
    eviction.putObject("metadata").put("name", pod.name()).put("namespace", pod.namespace());
    eviction.putObject("deleteOptions").putObject("preconditions").put("uid", pod.uid());
    withoutRetries.raw(
        path(pod.namespace(), pod.name()) + "/eviction", "POST", eviction.toString());
  }

  private void delete(DriverPod pod) {
    ObjectNode options = JSON.createObjectNode();
    options.put("apiVersion", "v1");
    options.put("kind", "DeleteOptions");
    options.putObject("preconditions").put("uid", pod.uid());
    client.raw(path(pod.namespace(), pod.name()), "DELETE", options.toString());
  }

  private static String path(String namespace, String pod) {
    return "/api/v1/namespaces/%s/pods/%s".formatted(namespace, pod);
  }

  private static String refused(DrainAction action, KubernetesClientException e) {
    return switch (action) {
      case DrainAction.Evict evict ->
          "pod %s may not be evicted: %s".formatted(evict.pod().qualifiedName(), reason(e));
      case DrainAction.Cordon _,
          DrainAction.SetStep _,
          DrainAction.RestartDriver _,
          DrainAction.Uncordon _ ->
          "the API server refuses: " + reason(e);
    };
  }

  /** Only the causes name the disruption budget. */
  private static String reason(KubernetesClientException e) {
    Status status = e.getStatus();
    if (status != null
        && status.getDetails() != null
        && !status.getDetails().getCauses().isEmpty()) {
      return status.getDetails().getCauses().stream()
          .map(StatusCause::getMessage)
          .collect(Collectors.joining("; "));
    }
    return Refusal.reason(e);
  }

  private static void log(String driver, DrainAction action, String text) {
    LOG.atInfo().addKeyValue("node", action.node().name()).addKeyValue("driver", driver).log(text);
  }
}
