package io.pmemcsi.driver.registry;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.registry.tls.MutualTls;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import registry.v0.RegisterControllerRequest;
import registry.v0.RegistryGrpc;
import registry.v0.UnregisterControllerRequest;

/**
 * Keeps a node registered with the central controller: it registers at the start and again after
 * each loss of the connection, for as long as the node runs. The connection is kept open because
 * its loss is how the node notices that the controller was restarted.
 */
public final class NodeRegistration implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(NodeRegistration.class);

  private final String nodeId;
  private final String instance = UUID.randomUUID().toString();
  private final TcpEndpoint registry;
  private final TcpEndpoint own;
  private final Backoff backoff;
  private final ManagedChannel channel;
  private final Thread thread;
  private volatile boolean closed;
  private volatile boolean registered;

  private NodeRegistration(
      String nodeId,
      TcpEndpoint registry,
      TcpEndpoint own,
      ManagedChannel channel,
      Backoff backoff) {
    this.nodeId = nodeId;
    this.registry = registry;
    this.own = own;
    this.channel = channel;
    this.backoff = backoff;
    this.thread = Thread.ofVirtual().name("registration").unstarted(this::run);
  }

  /**
   * Begins to register, in the background: a node serves its pods without a controller as well.
   *
   * @param own where the node's controller service can be reached
   */
  public static NodeRegistration start(
      String nodeId, TcpEndpoint registry, TcpEndpoint own, TlsFiles files, Backoff backoff) {
    NodeRegistration registration =
        new NodeRegistration(
            nodeId,
            registry,
            own,
            TlsChannel.open(
                registry, PeerRole.REGISTRY, MutualTls.client(files, PeerRole.REGISTRY)),
            backoff);
    registration.thread.start();
    return registration;
  }

  /** Whether the controller has accepted this node on the present connection. */
  public boolean isRegistered() {
    return registered;
  }

  private void run() {
    int failures = 0;
    try {
      while (!closed) {
        try {
          register();
          failures = 0;
          registered = true;
          awaitLoss();
          registered = false;
          if (!closed) {
            LOG.atWarn().addKeyValue("registry", registry).log("Connection to the registry lost.");
          }
        } catch (StatusRuntimeException e) {
          failures++;
          Duration pause = backoff.after(failures, ThreadLocalRandom.current().nextDouble());
          if (!closed) {
            LOG.atWarn()
                .addKeyValue("registry", registry)
                .addKeyValue("cause", Failures.text(e))
                .addKeyValue("next-attempt", pause)
                .log("Registration failed.");
          }
          Thread.sleep(pause);
          channel.resetConnectBackoff();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void register() {
    var _ =
        RegistryGrpc.newBlockingStub(channel)
            .withDeadlineAfter(Timeouts.REGISTER.toMillis(), TimeUnit.MILLISECONDS)
            .registerController(
                RegisterControllerRequest.newBuilder()
                    .setNodeId(nodeId)
                    .setEndpoint(own.toString())
                    .setInstance(instance)
                    .build());
    LOG.atInfo()
        .addKeyValue("registry", registry)
        .addKeyValue("endpoint", own)
        .log("Registered with the controller.");
  }

  private void awaitLoss() throws InterruptedException {
    while (channel.getState(false) == ConnectivityState.READY) {
      CountDownLatch changed = new CountDownLatch(1);
      channel.notifyWhenStateChanged(ConnectivityState.READY, changed::countDown);
      changed.await();
    }
  }

  /** Notifies the controller that this node stops; the controller keeps its volumes. */
  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    if (registered) {
      try {
        var _ =
            RegistryGrpc.newBlockingStub(channel)
                .withDeadlineAfter(Timeouts.UNREGISTER.toMillis(), TimeUnit.MILLISECONDS)
                .unregisterController(
                    UnregisterControllerRequest.newBuilder()
                        .setNodeId(nodeId)
                        .setInstance(instance)
                        .build());
      } catch (StatusRuntimeException e) {
        LOG.atInfo().addKeyValue("cause", Failures.text(e)).log("Could not unregister.");
      }
    }
    channel.shutdownNow();
  }
}
