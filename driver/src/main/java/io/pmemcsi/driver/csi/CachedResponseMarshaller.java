package io.pmemcsi.driver.csi;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the bytes of the last response of a method: a service that returns the very same message
 * again does not serialize it again. For a list of a thousand volumes that is most of the work.
 */
final class CachedResponseMarshaller<T extends Message> implements MethodDescriptor.Marshaller<T> {

  private final MethodDescriptor.Marshaller<T> plain;
  private volatile @Nullable Kept last;

  private record Kept(Message message, ByteString bytes) {}

  private CachedResponseMarshaller(MethodDescriptor.Marshaller<T> plain) {
    this.plain = plain;
  }

  /** The same service, where this method sends its responses so. */
  static <Q, R extends Message> ServerServiceDefinition forResponsesOf(
      MethodDescriptor<Q, R> method, ServerServiceDefinition service) {
    ServerServiceDefinition.Builder changed =
        ServerServiceDefinition.builder(service.getServiceDescriptor().getName());
    for (ServerMethodDefinition<?, ?> each : service.getMethods()) {
      if (!each.getMethodDescriptor().getFullMethodName().equals(method.getFullMethodName())) {
        changed.addMethod(each);
      }
    }
    @SuppressWarnings("unchecked") // a method of that name has these types
    ServerMethodDefinition<Q, R> found =
        (ServerMethodDefinition<Q, R>) service.getMethod(method.getFullMethodName());
    return changed
        .addMethod(
            ServerMethodDefinition.create(
                method.toBuilder(
                        method.getRequestMarshaller(),
                        new CachedResponseMarshaller<>(method.getResponseMarshaller()))
                    .build(),
                found.getServerCallHandler()))
        .build();
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // comparing what is in them would cost what is saved here
  public InputStream stream(T message) {
    Kept kept = last;
    if (kept == null || kept.message() != message) {
      kept = new Kept(message, message.toByteString());
      last = kept;
    }
    return new KnownStream(kept.bytes());
  }

  /** Bytes that need not be copied before they are sent, and whose number is known. */
  private static final class KnownStream extends InputStream implements KnownLength, Drainable {
    private final ByteString bytes;
    private final InputStream in;

    KnownStream(ByteString bytes) {
      this.bytes = bytes;
      this.in = bytes.newInput();
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      bytes.writeTo(target);
      return bytes.size();
    }

    @Override
    public int available() throws IOException {
      return in.available();
    }

    @Override
    public int read() throws IOException {
      return in.read();
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      return in.read(target, offset, length);
    }
  }

  @Override
  public T parse(InputStream stream) {
    return plain.parse(stream);
  }
}
