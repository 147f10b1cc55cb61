package io.pmemcsi.driver;

import static java.util.concurrent.TimeUnit.SECONDS;

import csi.v1.ControllerGrpc;
import csi.v1.IdentityGrpc;
import csi.v1.NodeGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.log.LogFormat;
import io.pmemcsi.base.log.Logging;
import io.pmemcsi.base.log.Verbosity;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.file.FileDevices;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.metrics.DriverMetrics;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** The real driver in this process, on file-backed devices, with a client on its socket. */
public final class FileModeDriver implements AutoCloseable {

  public static final String NODE = "node-1";
  public static final String NAME = "pmem-csi.intel.com";
  public static final long POOL = 64L << 30;

  /** Generous, since test machines can be busy. */
  private static final int CALL_SECONDS = 240;

  static {
    // a failing test reports the problem; -Dtest.verbosity=5 shows every command with its output
    int level = Integer.getInteger("pmem-csi.v", 0);
    Logging.configure(
        LogFormat.TEXT,
        new Verbosity(level),
        level == 0 ? OutputStream.nullOutputStream() : System.err);
  }

  private static final EventLoopGroup LOOP =
      new MultiThreadIoEventLoopGroup(
          1, Thread.ofPlatform().daemon().factory(), EpollIoHandler.newFactory());

  private final Optional<NodeDriver> driver;
  private final ManagedChannel channel;
  private final Optional<CentralCluster> central;

  private FileModeDriver(Optional<NodeDriver> driver, ManagedChannel channel) {
    this(driver, channel, Optional.empty());
  }

  private FileModeDriver(
      Optional<NodeDriver> driver, ManagedChannel channel, Optional<CentralCluster> central) {
    this.driver = driver;
    this.channel = channel;
    this.central = central;
  }

  public static FileModeDriver start(Path directory) {
    return start(directory, new ProcessRunner(), new DurableFiles(), POOL);
  }

  static FileModeDriver start(Path directory, CommandRunner runner, StateFiles files, long pool) {
    return start(
        directory, new HostAccess(runner, files, new KernelMounts(), new KernelLoops()), pool);
  }

  static FileModeDriver start(Path directory, HostAccess host, long pool) {
    return start(directory, host, pool, UnaryOperator.identity());
  }

  /** The same, with a wrapper around the device manager. */
  static FileModeDriver start(
      Path directory, HostAccess host, long pool, UnaryOperator<DeviceManager> between) {
    return start(settings(directory), host, pool, between);
  }

  /** The same with other settings. */
  static FileModeDriver start(
      DriverSettings settings, HostAccess host, long pool, UnaryOperator<DeviceManager> between) {
    NodeDriver driver =
        NodeDriver.start(
            settings,
            new DriverMetrics(settings.driverName(), settings.nodeId()),
            host,
            (mode, _) -> between.apply(devices(mode, settings, host, pool)));
    return new FileModeDriver(Optional.of(driver), connect(settings.endpoint().socket()));
  }

  /** The same driver, with the Identity and Controller services of a central controller. */
  FileModeDriver through(CentralCluster cluster) {
    return new FileModeDriver(driver, channel, Optional.of(cluster));
  }

  /** A node that has device mode file only. */
  private static DeviceManager devices(
      DeviceMode mode, DriverSettings settings, HostAccess host, long pool) {
    return switch (mode) {
      case FILE ->
          new FileDevices(
              settings.statePath(),
              new FileDevices.Pool.Fixed(pool),
              new LoopDevices(host.loops()));
      case LVM, DIRECT ->
          throw new DeviceException.ToolFailed(
              "list persistent memory", new IOException("no tool for it"));
    };
  }

  /** The client of a driver in another process. */
  static FileModeDriver elsewhere(Path directory) {
    return new FileModeDriver(Optional.empty(), connect(settings(directory).endpoint().socket()));
  }

  static DriverSettings settings(Path directory) {
    return new DriverSettings(
        new DriverName(NAME),
        NODE,
        new Endpoint(directory.resolve("csi.sock")),
        directory.resolve("state"),
        DeviceMode.FILE,
        100,
        Optional.of(ListenAddress.parse("127.0.0.1:0")),
        "/metrics");
  }

  static ManagedChannel connect(Path socket) {
    return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
        .eventLoopGroup(LOOP)
        .channelType(EpollDomainSocketChannel.class)
        .usePlaintext()
        .overrideAuthority("localhost")
        .build();
  }

  NodeDriver driver() {
    return driver.orElseThrow();
  }

  ManagedChannel channel() {
    return channel;
  }

  private ManagedChannel provisioning() {
    return central.map(CentralCluster::channel).orElse(channel);
  }

  public IdentityGrpc.IdentityBlockingStub identity() {
    return IdentityGrpc.newBlockingStub(provisioning()).withDeadlineAfter(CALL_SECONDS, SECONDS);
  }

  public ControllerGrpc.ControllerBlockingStub controller() {
    return ControllerGrpc.newBlockingStub(provisioning()).withDeadlineAfter(CALL_SECONDS, SECONDS);
  }

  public NodeGrpc.NodeBlockingStub node() {
    return NodeGrpc.newBlockingStub(channel).withDeadlineAfter(CALL_SECONDS, SECONDS);
  }

  @Override
  public void close() {
    central.ifPresent(CentralCluster::stopController);
    channel.shutdownNow();
    driver.ifPresent(NodeDriver::close);
  }
}
