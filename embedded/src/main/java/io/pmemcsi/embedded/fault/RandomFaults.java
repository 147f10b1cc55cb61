package io.pmemcsi.embedded.fault;

import io.pmemcsi.embedded.fault.RequestFault.Moment;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Faults drawn from a seed, so that a run can be repeated. The draw for a request depends on the
 * seed, on what is asked and on how often that was asked before; the draw for an event on the seed,
 * on what happened to which object, on what the watch selects, and on how often such an event was
 * on its way before. Numbers that a server gives in the order of threads play no part: those of
 * requests, watches and revisions. Watches that select the same are not told apart: the draws for
 * them are the same in each run, but which of them gets which may change.
 *
 * <p>Pages such as discovery are left alone: clients ask for them as they start, and give up where
 * they fail, so that most seeds would end there.
 *
 * @param failPerMille how many of 1000 requests for resources go wrong
 * @param eventPerMille how many of 1000 watch events go wrong
 * @param lossless whether every event arrives in the end, as a real server promises
 */
public record RandomFaults(
    long seed,
    int failPerMille,
    int eventPerMille,
    boolean lossless,
    Map<String, AtomicInteger> asked)
    implements FaultPlan {

  public RandomFaults {
    if (failPerMille < 0 || failPerMille > 1000 || eventPerMille < 0 || eventPerMille > 1000) {
      throw new IllegalArgumentException("rates are between 0 and 1000 per mille");
    }
  }

  public RandomFaults(long seed, int failPerMille, int eventPerMille) {
    this(seed, failPerMille, eventPerMille, true, new ConcurrentHashMap<>());
  }

  /** Worse than a real server: events get lost and change places, too. */
  public static RandomFaults lossy(long seed, int failPerMille, int eventPerMille) {
    return new RandomFaults(seed, failPerMille, eventPerMille, false, new ConcurrentHashMap<>());
  }

  @Override
  public RequestFault onRequest(SeenRequest request) {
    if (request.page()) {
      return RequestFault.NONE;
    }
    SplittableRandom random = draw(request.toString());
    if (random.nextInt(1000) >= failPerMille) {
      return RequestFault.NONE;
    }
    Moment moment = random.nextBoolean() ? Moment.BEFORE : Moment.AFTER;
    return switch (random.nextInt(request.write() ? 5 : 6)) {
      case 0 -> new RequestFault.Fail(500, moment);
      case 1 -> new RequestFault.Fail(503, Moment.BEFORE);
      case 2 -> request.write() ? new RequestFault.Fail(409, Moment.BEFORE) : RequestFault.NONE;
      case 3 -> new RequestFault.Cut(moment);
      case 4 -> new RequestFault.Delay(Duration.ofMillis(random.nextInt(5, 50)), moment);
      default -> new RequestFault.Stale(1 + random.nextInt(5));
    };
  }

  @Override
  public EventFault onEvent(SeenEvent event) {
    SplittableRandom random = draw(event.toString());
    if (random.nextInt(1000) >= eventPerMille) {
      return EventFault.NONE;
    }
    return switch (random.nextInt(lossless ? 3 : 5)) {
      case 0 -> new EventFault.Duplicate();
      case 1 -> new EventFault.Delay(Duration.ofMillis(random.nextInt(5, 50)));
      case 2 -> new EventFault.Cut();
      case 3 -> new EventFault.HoldBack();
      default -> new EventFault.Drop();
    };
  }

  private SplittableRandom draw(String what) {
    int times = asked.computeIfAbsent(what, _ -> new AtomicInteger()).incrementAndGet();
    return new SplittableRandom(seed * 0x9E3779B97F4A7C15L ^ what.hashCode() * 31L + times);
  }
}
