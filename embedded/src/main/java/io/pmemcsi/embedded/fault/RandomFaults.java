package io.pmemcsi.embedded.fault;

import io.pmemcsi.embedded.fault.RequestFault.Moment;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Faults drawn from a seed, so that a run can be repeated. The draw depends on the seed, on the
 * request (for an event also on the selection of its watch) and on how often the same one occurred
 * before, but on no number that depends on the order of threads. Watches with the same selection
 * share their draws.
 *
 * <p>Pages such as discovery never fail: clients read them when they start and give up, so that
 * most seeds would end there.
 *
 * @param failPerMille how many of 1000 requests for resources fail
 * @param eventPerMille how many of 1000 watch events have a fault
 * @param lossless whether every event arrives eventually, as a real server guarantees
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

  /** Worse than a real server: events are also lost and reordered. */
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
