package io.pmemcsi.driver.registry;

import csi.v1.ListVolumesResponse;
import io.grpc.Context;
import io.pmemcsi.driver.registry.RegistryException.Unavailable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The nodes that can be called. */
final class RegisteredNodes implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RegisteredNodes.class);

  /**
   * After a restart all nodes come at once: some quick handshakes are better than all slow ones.
   */
  private static final int CONCURRENT_LISTINGS = 8;

  private final NodeClient.Connector connector;
  private final VolumeLocations locations;
  private final Map<String, Node> nodes = new ConcurrentHashMap<>();
  private final Map<String, ReentrantLock> registrations = new ConcurrentHashMap<>();
  private final Semaphore listings = new Semaphore(CONCURRENT_LISTINGS);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  private record Node(TcpEndpoint endpoint, String instance, NodeClient client) {}

  /** What a call of one node returned, or why it failed. */
  sealed interface Answer<T> {
    record Success<T>(T value) implements Answer<T> {}

    record Failure<T>(RegistryException cause) implements Answer<T> {}
  }

  RegisteredNodes(NodeClient.Connector connector, VolumeLocations locations) {
    this.connector = connector;
    this.locations = locations;
  }

  /**
   * Asks the node for its volumes and, only if it answers, makes it available.
   *
   * @param instance identifies the process on the node
   */
  void register(String nodeId, TcpEndpoint endpoint, String instance) {
    ReentrantLock lock = registrations.computeIfAbsent(nodeId, _ -> new ReentrantLock());
    lock.lock();
    try {
      Node old = nodes.get(nodeId);
      // a connection that failed would be tried again only after a back-off
      boolean usable = old != null && old.endpoint().equals(endpoint) && old.client().isReachable();
      NodeClient client =
          old != null && usable ? old.client() : connector.connect(nodeId, endpoint);
      boolean listed = false;
      try {
        takeOver(nodeId, client);
        listed = true;
      } finally {
        if (!listed) {
          nodes.remove(nodeId);
          client.close();
        }
        if (old != null && !usable) {
          old.client().close();
        }
      }
      nodes.put(nodeId, new Node(endpoint, instance, client));
      LOG.atInfo()
          .addKeyValue("node", nodeId)
          .addKeyValue("endpoint", endpoint)
          .addKeyValue("volumes", locations.volumes(nodeId).size())
          .log("Node registered.");
    } finally {
      lock.unlock();
    }
  }

  private void takeOver(String nodeId, NodeClient client) {
    listings.acquireUninterruptibly();
    VolumeLocations.Listing listing = locations.listing(nodeId);
    try {
      listing.finish(
          client.list().stream()
              .map(ListVolumesResponse.Entry::getVolume)
              .collect(
                  Collectors.toMap(
                      volume -> volume.getVolumeId(), volume -> volume.getCapacityBytes())));
    } finally {
      listing.cancel();
      listings.release();
    }
  }

  /**
   * Ends the registration that the same process has made. The call of a process that hung while it
   * stopped may arrive when its successor has registered.
   */
  void unregister(String nodeId, String instance) {
    ReentrantLock lock = registrations.computeIfAbsent(nodeId, _ -> new ReentrantLock());
    lock.lock();
    try {
      Node node = nodes.get(nodeId);
      if (node != null && !node.instance().equals(instance)) {
        LOG.atInfo().addKeyValue("node", nodeId).log("Earlier process of a node unregistered.");
        return;
      }
      if (node != null) {
        nodes.remove(nodeId);
        node.client().close();
        LOG.atInfo().addKeyValue("node", nodeId).log("Node unregistered.");
      }
      locations.leave(nodeId);
    } finally {
      lock.unlock();
    }
  }

  Optional<NodeClient> find(String nodeId) {
    return Optional.ofNullable(nodes.get(nodeId)).map(Node::client);
  }

  List<String> names() {
    return nodes.keySet().stream().sorted().toList();
  }

  /** The names of the registered nodes without those that cannot be connected to. */
  List<String> reachable() {
    return names().stream()
        .filter(node -> find(node).filter(NodeClient::isReachable).isPresent())
        .toList();
  }

  /** Calls several nodes at the same time, with the deadline of the call that this serves. */
  <T> Map<String, Answer<T>> callAll(List<String> nodeIds, Function<NodeClient, T> call) {
    if (nodeIds.size() == 1) {
      return Map.of(nodeIds.getFirst(), call(nodeIds.getFirst(), call));
    }
    Context context = Context.current();
    Map<String, Future<Answer<T>>> running = new LinkedHashMap<>();
    for (String nodeId : nodeIds) {
      running.put(nodeId, threads.submit(context.wrap(() -> call(nodeId, call))));
    }
    Map<String, Answer<T>> answers = new TreeMap<>();
    running.forEach((nodeId, answer) -> answers.put(nodeId, join(answer)));
    return answers;
  }

  private <T> Answer<T> call(String nodeId, Function<NodeClient, T> call) {
    try {
      NodeClient client = find(nodeId).orElseThrow(() -> Unavailable.notRegistered(nodeId));
      return new Answer.Success<>(call.apply(client));
    } catch (RegistryException e) {
      return new Answer.Failure<>(e);
    }
  }

  private static <T> T join(Future<T> running) {
    try {
      return running.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RegistryException.Cancelled("interrupted");
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  @Override
  public void close() {
    nodes.values().forEach(node -> node.client().close());
    threads.shutdownNow();
  }
}
