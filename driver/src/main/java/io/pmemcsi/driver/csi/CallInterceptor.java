package io.pmemcsi.driver.csi;

import com.google.protobuf.Message;
import csi.v1.IdentityGrpc;
import io.grpc.BindableService;
import io.grpc.Context;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.pmemcsi.driver.linux.exec.Cancellation;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all calls have in common: a number in the log, a measured time, the node's name in each
 * error, a limit for the size, and commands that are killed with their call.
 */
public final class CallInterceptor implements ServerInterceptor {

  /** What clients of CSI rely on; gRPC's own limit has another message. */
  static final int MAX_MESSAGE = 4 << 20;

  private static final int MAX_DESCRIPTION = 2048;

  private static final Logger LOG = LoggerFactory.getLogger("io.pmemcsi.driver.csi");

  private static final String PROBE = IdentityGrpc.getProbeMethod().getFullMethodName();

  private final String nodeId;
  private final CallRecorder recorder;

  /** Of the whole process, which may have several servers. */
  private static final AtomicLong COUNTER = new AtomicLong();

  /**
   * Gets the duration and the result of each call.
   *
   * @see StatusNames
   */
  @FunctionalInterface
  public interface CallRecorder {
    void ended(String method, String code, Duration took);
  }

  public CallInterceptor(String nodeId, CallRecorder recorder) {
    this.nodeId = nodeId;
    this.recorder = recorder;
  }

  /** A service for a server with this interceptor, which refuses what cannot be parsed. */
  public static ServerServiceDefinition bind(BindableService service) {
    return RequestMarshaller.forRequestsOf(service);
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    Observed<Q, R> observed = new Observed<>(call, COUNTER.incrementAndGet());
    Cancellation cancellation = new Cancellation();
    Context.current().addListener(_ -> cancellation.cancel(), Runnable::run);
    return new Guarded<>(next.startCall(observed, headers), observed, cancellation);
  }

  /** Callers may put millions of characters into a name, and clients refuse long headers. */
  private static String bounded(String description) {
    return description.length() <= MAX_DESCRIPTION
        ? description
        : "%s... (%d characters)"
            .formatted(description.substring(0, MAX_DESCRIPTION), description.length());
  }

  private final class Observed<Q, R> extends SimpleForwardingServerCall<Q, R> {

    private final String method;
    private final long number;
    private final long start = System.nanoTime();
    private boolean closed;

    Observed(ServerCall<Q, R> call, long number) {
      super(call);
      this.method = call.getMethodDescriptor().getFullMethodName();
      this.number = number;
    }

    void started(Message request) {
      // the liveness probe calls all day
      (method.equals(PROBE) ? LOG.atDebug() : LOG.atInfo())
          .addKeyValue("method", method)
          .addKeyValue("request-counter", number)
          .log("Call started.");
      LOG.atTrace()
          .addKeyValue("request-counter", number)
          .addKeyValue("request", LoggedMessage.of(request))
          .log("Request.");
    }

    @Override
    public void sendMessage(R response) {
      LOG.atTrace()
          .addKeyValue("request-counter", number)
          .addKeyValue("response", LoggedMessage.of((Message) response))
          .log("Response.");
      super.sendMessage(response);
    }

    @Override
    public void close(Status status, Metadata trailers) {
      if (closed) {
        return;
      }
      closed = true;
      Status sent = status;
      if (!status.isOk()) {
        String description =
            bounded(status.getDescription() == null ? "" : status.getDescription());
        sent = status.getCode().toStatus().withDescription(nodeId + ": " + description);
        LOG.atError()
            .addKeyValue("method", method)
            .addKeyValue("request-counter", number)
            .addKeyValue("code", status.getCode())
            .addKeyValue("error", description)
            .log("Call failed.");
      }
      recorder.ended(
          "/" + method,
          StatusNames.of(status.getCode()),
          Duration.ofNanos(System.nanoTime() - start));
      super.close(sent, trailers);
    }
  }

  private static final class Guarded<Q, R> extends SimpleForwardingServerCallListener<Q> {

    private final Observed<Q, R> call;
    private final Cancellation cancellation;
    private boolean refused;

    Guarded(ServerCall.Listener<Q> listener, Observed<Q, R> call, Cancellation cancellation) {
      super(listener);
      this.call = call;
      this.cancellation = cancellation;
    }

    @Override
    public void onMessage(@Nullable Q request) {
      if (!(request instanceof Message message)) {
        refused = true;
        call.close(
            Status.INVALID_ARGUMENT.withDescription(
                "the request is not a protobuf message of this method"),
            new Metadata());
        return;
      }
      if (message.getSerializedSize() > MAX_MESSAGE) {
        refused = true;
        call.close(
            Status.RESOURCE_EXHAUSTED.withDescription(
                "received message larger than max (%d vs. %d)"
                    .formatted(message.getSerializedSize(), MAX_MESSAGE)),
            new Metadata());
        return;
      }
      call.started(message);
      super.onMessage(request);
    }

    @Override
    public void onHalfClose() {
      if (!refused) {
        cancellation.serve(super::onHalfClose);
      }
    }
  }
}
