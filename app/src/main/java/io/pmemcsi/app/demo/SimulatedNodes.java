package io.pmemcsi.app.demo;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetStatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Stands in for nodes, kubelets and the controller of DaemonSets, none of which the in-process API
 * has: some time after a DaemonSet was written, it says that one pod after the other is ready.
 */
final class SimulatedNodes implements AutoCloseable {

  private static final int NODES = 3;
  private static final Duration POD_START = Duration.ofMillis(400);

  private final KubernetesClient client;
  private final ExecutorService work = Executors.newVirtualThreadPerTaskExecutor();
  private final Watch watch;

  private SimulatedNodes(KubernetesClient client) {
    this.client = client;
    this.watch = client.apps().daemonSets().inAnyNamespace().watch(new Watching());
  }

  /** Makes nodes that carry the labels, and looks after their DaemonSets from now on. */
  static SimulatedNodes start(KubernetesClient client, Map<String, String> labels) {
    for (int i = 1; i <= NODES; i++) {
      client
          .resource(
              new NodeBuilder()
                  .withNewMetadata()
                  .withName("simulated-" + i)
                  .withLabels(labels)
                  .endMetadata()
                  .build())
          .create();
    }
    return new SimulatedNodes(client);
  }

  int count() {
    return NODES;
  }

  @Override
  public void close() {
    watch.close();
    work.shutdownNow();
  }

  private final class Watching implements Watcher<DaemonSet> {

    @Override
    public void eventReceived(Action action, DaemonSet set) {
      boolean written = action == Action.ADDED || action == Action.MODIFIED;
      if (written && !isSeen(set)) {
        work.execute(() -> rollOut(set));
      }
    }

    @Override
    public void onClose(WatcherException cause) {
      // the demo is over, or what follows says that no status moves
    }
  }

  private static boolean isSeen(DaemonSet set) {
    return set.getStatus() != null
        && Objects.equals(
            set.getStatus().getObservedGeneration(), set.getMetadata().getGeneration());
  }

  private void rollOut(DaemonSet set) {
    try {
      for (int ready = 0; ready <= NODES; ready++) {
        report(set, ready);
        Thread.sleep(POD_START);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (KubernetesClientException e) {
      // deleted meanwhile, or written again, which starts a new roll-out
    }
  }

  private void report(DaemonSet set, int ready) {
    client
        .apps()
        .daemonSets()
        .inNamespace(set.getMetadata().getNamespace())
        .withName(set.getMetadata().getName())
        .editStatus(
            current -> {
              current.setStatus(
                  new DaemonSetStatusBuilder()
                      .withObservedGeneration(set.getMetadata().getGeneration())
                      .withDesiredNumberScheduled(NODES)
                      .withCurrentNumberScheduled(NODES)
                      .withUpdatedNumberScheduled(NODES)
                      .withNumberMisscheduled(0)
                      .withNumberReady(ready)
                      .withNumberAvailable(ready)
                      .withNumberUnavailable(NODES - ready)
                      .build());
              return current;
            });
  }
}
