package io.pmemcsi.standin;

import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import pluginregistration.InfoRequest;
import pluginregistration.PluginInfo;
import pluginregistration.RegistrationGrpc;
import pluginregistration.RegistrationStatus;
import pluginregistration.RegistrationStatusResponse;

/**
 * Stand-in for the node driver registrar: asks the driver for its name and serves kubelet's
 * registration protocol for it in {@code /registration}.
 */
final class RegistrarStandIn extends RegistrationGrpc.RegistrationImplBase {

  private final PluginInfo plugin;

  private RegistrarStandIn(PluginInfo plugin) {
    this.plugin = plugin;
  }

  public static void main(String... flags) throws IOException, InterruptedException {
    Arguments arguments = Arguments.parse(flags);
    String name = new DriverClient(arguments.get("csi-address")).name();
    PluginInfo plugin =
        PluginInfo.newBuilder()
            .setType("CSIPlugin")
            .setName(name)
            .setEndpoint(arguments.get("kubelet-registration-path"))
            .addSupportedVersions("1.0.0")
            .build();
    Path socket = Path.of("/registration", name + "-reg.sock");
    Files.deleteIfExists(socket);
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> socket.toFile().delete(), "remove-socket"));
    MultiThreadIoEventLoopGroup loops =
        new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    Server server =
        NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
            .channelType(EpollServerDomainSocketChannel.class)
            .bossEventLoopGroup(loops)
            .workerEventLoopGroup(loops)
            .addService(new RegistrarStandIn(plugin))
            .build()
            .start();
    System.out.println("serving " + plugin + " on " + socket);
    server.awaitTermination();
  }

  @Override
  public void getInfo(InfoRequest request, StreamObserver<PluginInfo> response) {
    response.onNext(plugin);
    response.onCompleted();
  }

  @Override
  public void notifyRegistrationStatus(
      RegistrationStatus status, StreamObserver<RegistrationStatusResponse> response) {
    response.onNext(RegistrationStatusResponse.getDefaultInstance());
    response.onCompleted();
    if (status.getPluginRegistered()) {
      System.out.println("registered");
    } else {
      System.err.println("kubelet refused the driver: " + status.getError());
      // halt: kubelet starts the container again, which tries once more
      Runtime.getRuntime().halt(1);
    }
  }
}
