package io.pmemcsi.driver.csi;

import csi.v1.ControllerGrpc;
import csi.v1.IdentityGrpc;
import csi.v1.NodeGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallExecutorSupplier;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Where calls are served: on a virtual thread, because most of them wait for the disk or a tool.
 * Those that answer with constants are served by the event loop: handing them to a thread and back
 * would take longer than the answer.
 */
final class CallExecutors implements ServerCallExecutorSupplier {

  private static final Set<String> CONSTANT =
      Stream.of(
              IdentityGrpc.getProbeMethod(),
              IdentityGrpc.getGetPluginInfoMethod(),
              IdentityGrpc.getGetPluginCapabilitiesMethod(),
              ControllerGrpc.getControllerGetCapabilitiesMethod(),
              NodeGrpc.getNodeGetCapabilitiesMethod(),
              NodeGrpc.getNodeGetInfoMethod())
          .map(MethodDescriptor::getFullMethodName)
          .collect(Collectors.toUnmodifiableSet());

  private final Executor threads;

  CallExecutors(Executor threads) {
    this.threads = threads;
  }

  @Override
  public <Q, R> Executor getExecutor(ServerCall<Q, R> call, Metadata headers) {
    boolean constant = CONSTANT.contains(call.getMethodDescriptor().getFullMethodName());
    return constant ? Runnable::run : threads;
  }
}
