package io.pmemcsi.embedded.fault;

import io.pmemcsi.embedded.fault.RequestFault.Moment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** The faults that a server injects. */
public final class Faults implements FaultPlan {
  private volatile FaultPlan plan = FaultPlan.NONE;
  private volatile Consumer<SeenRequest> onWrite = _ -> {};
  private volatile Moment moment = Moment.BEFORE;
  private volatile boolean cutOff;
  private final AtomicLong writesLeft = new AtomicLong(Long.MAX_VALUE);
  private final Runnable endWatches;
  private final Runnable forgetHistory;

  /**
   * @param endWatches ends every open watch
   * @param forgetHistory drops the server's history
   */
  public Faults(Runnable endWatches, Runnable forgetHistory) {
    this.endWatches = endWatches;
    this.forgetHistory = forgetHistory;
  }

  /** Replaces the fault plan. */
  public void follow(FaultPlan newPlan) {
    plan = newPlan;
  }

  /** Ends all faults and reconnects clients. */
  public void clear() {
    plan = FaultPlan.NONE;
    onWrite = _ -> {};
    release();
  }

  /** Calls a listener for each write, before it is carried out. */
  public void onWrite(Consumer<SeenRequest> listener) {
    onWrite = listener;
  }

  /**
   * Disconnects all clients at the n-th write from now, as if the client was killed there: that
   * write gets no response, and no later request is carried out.
   *
   * @param moment whether the n-th write itself still takes effect
   */
  public void cutOffAtWrite(long number, Moment moment) {
    if (number < 1) {
      throw new IllegalArgumentException("writes count from 1, not from " + number);
    }
    this.moment = moment;
    cutOff = false;
    writesLeft.set(number);
  }

  /** Disconnects all clients. */
  public void cutOff() {
    cutOff = true;
    endWatches.run();
  }

  /** Whether clients are disconnected. */
  public boolean isCutOff() {
    return cutOff;
  }

  /** Reconnects clients. */
  public void release() {
    writesLeft.set(Long.MAX_VALUE);
    cutOff = false;
  }

  /** Ends every open watch, as a restart of the server does. */
  public void killWatches() {
    endWatches.run();
  }

  /** Drops the history: watches from an earlier revision get 410 Gone. */
  public void forgetHistory() {
    forgetHistory.run();
  }

  @Override
  public RequestFault onRequest(SeenRequest request) {
    if (cutOff) {
      return new RequestFault.Cut(Moment.BEFORE);
    }
    if (request.write()) {
      onWrite.accept(request);
      if (writesLeft.get() != Long.MAX_VALUE && writesLeft.decrementAndGet() == 0) {
        cutOff();
        return new RequestFault.Cut(moment);
      }
      if (cutOff) {
        return new RequestFault.Cut(Moment.BEFORE);
      }
    }
    return plan.onRequest(request);
  }

  @Override
  public EventFault onEvent(SeenEvent event) {
    return cutOff ? new EventFault.Cut() : plan.onEvent(event);
  }
}
