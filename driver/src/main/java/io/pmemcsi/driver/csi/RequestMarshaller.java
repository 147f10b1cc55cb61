package io.pmemcsi.driver.csi;

import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.StatusRuntimeException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * Parses requests. gRPC answers one that it cannot parse with UNKNOWN and a stack trace on standard
 * error; here it becomes no request, which {@link CallInterceptor} refuses.
 */
final class RequestMarshaller<T> implements MethodDescriptor.Marshaller<T> {

  private final MethodDescriptor.Marshaller<T> plain;

  private RequestMarshaller(MethodDescriptor.Marshaller<T> plain) {
    this.plain = plain;
  }

  /** The same service with requests that are parsed so. */
  static ServerServiceDefinition forRequestsOf(BindableService service) {
    ServerServiceDefinition before = service.bindService();
    ServerServiceDefinition.Builder changed =
        ServerServiceDefinition.builder(before.getServiceDescriptor().getName());
    before.getMethods().forEach(method -> changed.addMethod(changed(method)));
    return changed.build();
  }

  private static <Q, R> ServerMethodDefinition<Q, R> changed(ServerMethodDefinition<Q, R> method) {
    MethodDescriptor<Q, R> descriptor = method.getMethodDescriptor();
    return ServerMethodDefinition.create(
        descriptor.toBuilder(
                new RequestMarshaller<>(descriptor.getRequestMarshaller()),
                descriptor.getResponseMarshaller())
            .build(),
        method.getServerCallHandler());
  }

  @Override
  public InputStream stream(T message) {
    return plain.stream(message);
  }

  @Override
  @SuppressWarnings("NullAway") // the interceptor is the only one that sees it
  public @Nullable T parse(InputStream stream) {
    try {
      return plain.parse(stream);
    } catch (StatusRuntimeException e) {
      return null;
    }
  }
}
