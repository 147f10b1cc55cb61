package io.pmemcsi.embedded.http;

import io.pmemcsi.embedded.fault.SeenRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The received requests. */
public final class RequestLog {
  private final AtomicLong numbers = new AtomicLong();
  private final List<SeenRequest> requests = new ArrayList<>();

  long nextNumber() {
    return numbers.incrementAndGet();
  }

  synchronized void add(SeenRequest request) {
    requests.add(request);
  }

  /** All requests since the start or the last {@link #clear}. */
  public synchronized List<SeenRequest> all() {
    return List.copyOf(requests);
  }

  /** The requests that change objects, except dry runs. */
  public synchronized List<SeenRequest> writes() {
    return requests.stream().filter(SeenRequest::write).toList();
  }

  public synchronized void clear() {
    requests.clear();
  }
}
