package io.pmemcsi.testbed.kubernetes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.api.model.storage.CSINodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.net.HttpURLConnection;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Plays the plugin registration of kubelet where no driver runs behind a pod: a ready pod whose
 * registrar puts its socket into kubelet's directory gets its driver into the CSINode, and it is
 * removed with the pod. Pods that use another directory are not noticed, as by a real kubelet.
 */
final class FakeRegistrations implements ResourceEventHandler<Pod>, AutoCloseable {

  private static final String KUBELET = "/var/lib/kubelet";
  private static final String REGISTRATION_PATH = "--kubelet-registration-path=";
  private static final int ATTEMPTS = 10;

  private final KubernetesClient client;
  private final Predicate<String> isManaged;
  private final SharedIndexInformer<Pod> pods;

  /** The drivers that are registered, by the UIDs of their pods. */
  private final Map<String, String> registered = new HashMap<>();

  private FakeRegistrations(KubernetesClient client, Predicate<String> isManaged) {
    this.client = client;
    this.isManaged = isManaged;
    this.pods = client.pods().inAnyNamespace().runnableInformer(0).addEventHandler(this);
  }

  static FakeRegistrations start(KubernetesClient client, Predicate<String> isManaged) {
    FakeRegistrations started = new FakeRegistrations(client, isManaged);
    started.pods.run();
    return started;
  }

  @Override
  public void onAdd(Pod pod) {
    String node = pod.getSpec().getNodeName();
    if (node == null || !isManaged.test(node)) {
      return;
    }
    boolean runs =
        pod.getMetadata().getDeletionTimestamp() == null && Readiness.getInstance().isReady(pod);
    driver(pod)
        .ifPresent(
            driver -> {
              if (runs && registered.put(pod.getMetadata().getUid(), driver) == null) {
                set(node, driver, true);
              } else if (!runs && registered.remove(pod.getMetadata().getUid()) != null) {
                set(node, driver, false);
              }
            });
  }

  @Override
  public void onUpdate(Pod before, Pod pod) {
    onAdd(pod);
  }

  @Override
  public void onDelete(Pod pod, boolean stateUnknown) {
    String driver = registered.remove(pod.getMetadata().getUid());
    if (driver != null) {
      set(pod.getSpec().getNodeName(), driver, false);
    }
  }

  @Override
  public void close() {
    pods.close();
  }

  private static Optional<String> driver(Pod pod) {
    boolean inDirectory =
        pod.getSpec().getVolumes().stream()
            .filter(volume -> volume.getHostPath() != null)
            .map(volume -> Path.of(volume.getHostPath().getPath()).normalize())
            .anyMatch(Path.of(KUBELET, "plugins_registry")::equals);
    return pod.getSpec().getContainers().stream()
        .filter(_ -> inDirectory)
        .flatMap(container -> socket(container).stream())
        .filter(socket -> socket.startsWith(Path.of(KUBELET, "plugins")))
        .map(socket -> socket.getName(socket.getNameCount() - 2).toString())
        .findFirst();
  }

  private static Optional<Path> socket(Container container) {
    return container.getArgs().stream()
        .filter(argument -> argument.startsWith(REGISTRATION_PATH))
        .map(argument -> argument.substring(REGISTRATION_PATH.length()))
        .map(path -> expand(path, container))
        .map(Path::of)
        .findFirst();
  }

  private static String expand(String text, Container container) {
    String expanded = text;
    for (EnvVar variable : container.getEnv()) {
      if (variable.getValue() != null) {
        expanded = expanded.replace("$(%s)".formatted(variable.getName()), variable.getValue());
      }
    }
    return expanded;
  }

  private void set(String node, String driver, boolean present) {
    for (int attempt = 1; ; attempt++) {
      try {
        write(node, driver, present);
        return;
      } catch (KubernetesClientException e) {
        // a kubelet of its own may write there, too
        if (e.getCode() != HttpURLConnection.HTTP_CONFLICT || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private void write(String node, String driver, boolean present) {
    CSINode found = client.storage().v1().csiNodes().withName(node).get();
    if (found == null && !present) {
      return;
    }
    var builder =
        found == null
            ? new CSINodeBuilder()
                .withNewMetadata()
                .withName(node)
                .withOwnerReferences(
                    new OwnerReferenceBuilder()
                        .withApiVersion("v1")
                        .withKind("Node")
                        .withName(node)
                        .withUid(client.nodes().withName(node).get().getMetadata().getUid())
                        .build())
                .endMetadata()
                .withNewSpec()
                .endSpec()
            : new CSINodeBuilder(found);
    var spec = builder.editSpec().removeMatchingFromDrivers(one -> driver.equals(one.getName()));
    if (present) {
      spec.addNewDriver().withName(driver).withNodeID(node).endDriver();
    }
    CSINode next = spec.endSpec().build();
    if (found == null) {
      client.resource(next).create();
    } else {
      client.resource(next).update();
    }
  }
}
