package io.pmemcsi.controller.extender;

import com.fasterxml.jackson.core.JacksonException;
import io.pmemcsi.controller.capacity.FilterResult;
import io.pmemcsi.controller.capacity.NodeCapacities;
import io.pmemcsi.controller.https.Response;
import io.pmemcsi.controller.volume.NeededVolume;
import io.pmemcsi.controller.volume.UnknownNeedException;
import io.pmemcsi.controller.volume.VolumeNeeds;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers which nodes have capacity for the volumes of a pod, without a call to another process.
 */
public final class SchedulerExtender {

  private static final Logger LOG = LoggerFactory.getLogger(SchedulerExtender.class);

  private final VolumeNeeds needs;
  private final NodeCapacities capacities;
  private final NodeCapacities.Freshness freshness;
  private final Clock clock;
  private Optional<NodeNames> filtered = Optional.empty();

  public SchedulerExtender(
      VolumeNeeds needs,
      NodeCapacities capacities,
      NodeCapacities.Freshness freshness,
      Clock clock) {
    this.needs = needs;
    this.capacities = capacities;
    this.freshness = freshness;
    this.clock = clock;
  }

  /**
   * The {@code filterVerb}. As the scheduler expects it, an error is part of a good answer. One
   * request at a time: an answer may take fifty times the memory of its request.
   */
  public synchronized Response filter(byte[] body) {
    try {
      ExtenderArguments arguments = ExtenderArguments.read(body, filtered);
      filtered = arguments.byName();
      if (arguments.objects().isPresent()) {
        LOG.atWarn()
            .log("The scheduler sends whole nodes: set nodeCacheCapable: true for this extender.");
      }
      FilterResult result = filter(arguments);
      LOG.atDebug()
          .addKeyValue("pod", arguments.pod().name())
          .addKeyValue("namespace", arguments.pod().namespace())
          .addKeyValue("passed", result.passed().size())
          .addKeyValue("refused", result.refused().size())
          .log("Filtered nodes.");
      return Response.json(ExtenderJson.filterResult(body, arguments, result));
    } catch (UnknownNeedException e) {
      return Response.json(ExtenderJson.error(String.valueOf(e.getMessage())));
    } catch (IOException e) {
      return Response.json(ExtenderJson.error(reason(e)));
    }
  }

  /** The {@code prioritizeVerb}. */
  public synchronized Response prioritize(byte[] body) {
    try {
      ExtenderArguments arguments = ExtenderArguments.read(body, filtered);
      List<NeededVolume> volumes = needs.of(arguments.pod());
      return Response.json(
          ExtenderJson.priorities(
              arguments, capacities.scores(arguments.pod().key(), volumes, arguments.names())));
    } catch (UnknownNeedException e) {
      // the result has no place for an error; the scheduler goes on without our scores
      return Response.text(400, String.valueOf(e.getMessage()));
    } catch (IOException e) {
      return Response.text(400, reason(e));
    }
  }

  private FilterResult filter(ExtenderArguments arguments) throws UnknownNeedException {
    List<NeededVolume> volumes = needs.of(arguments.pod());
    return volumes.isEmpty()
        ? new FilterResult(arguments.names(), Map.of())
        : capacities.filter(
            arguments.pod().key(), volumes, arguments.names(), freshness, clock.instant());
  }

  private static String reason(IOException e) {
    return Optional.of(e)
        .filter(JacksonException.class::isInstance)
        .map(JacksonException.class::cast)
        .map(JacksonException::getOriginalMessage)
        .orElseGet(() -> String.valueOf(e.getMessage()));
  }
}
