package io.pmemcsi.base.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;

/**
 * Leaves out what libraries log about failures that the program reports itself in one line: errors
 * that end it, where they show the stack of each watch, and each failed reconciliation, with the
 * whole resource. Other warnings stay.
 */
final class OwnLoggerFilter extends Filter<ILoggingEvent> {

  private static final Set<String> LOGGERS =
      Set.of(
          "io.fabric8.kubernetes.client.informers.impl.cache.Reflector",
          "io.javaoperatorsdk.operator.processing.event.source.informer.InformerWrapper");

  private static final String RECONCILIATIONS =
      "io.javaoperatorsdk.operator.processing.event.EventProcessor";

  /** How JOSDK begins the lines about a reconciliation that has failed. */
  private static final List<String> FAILED =
      List.of(
          "Uncaught error during event processing",
          "Error during event processing",
          "Full client conflict error during event processing",
          "Resource Kubernetes Resource Creator/Update Conflict during reconciliation");

  private static final String ELECTION =
      "io.fabric8.kubernetes.client.extended.leaderelection.LeaderElector";

  @Override
  public FilterReply decide(ILoggingEvent event) {
    return isFailedReconciliation(event)
            || isElectionDuringShutdown(event)
            || (event.getLevel().isGreaterOrEqual(Level.ERROR)
                && LOGGERS.contains(event.getLoggerName()))
        ? FilterReply.DENY
        : FilterReply.NEUTRAL;
  }

  private static boolean isFailedReconciliation(ILoggingEvent event) {
    return event.getLoggerName().equals(RECONCILIATIONS)
        && FAILED.stream().anyMatch(event.getMessage()::startsWith);
  }

  /** JOSDK shuts its executors down before it ends the election, which may be won in between. */
  private static boolean isElectionDuringShutdown(ILoggingEvent event) {
    if (!event.getLoggerName().equals(ELECTION)) {
      return false;
    }
    IThrowableProxy cause = event.getThrowableProxy();
    while (cause != null) {
      if (cause.getClassName().equals(RejectedExecutionException.class.getName())) {
        return true;
      }
      cause = cause.getCause();
    }
    return false;
  }
}
