package io.pmemcsi.base.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.Set;

/**
 * Leaves out errors of libraries that end the program: it says the same in one line, where they
 * show the stack of each watch. Their warnings stay.
 */
final class OwnLoggerFilter extends Filter<ILoggingEvent> {

  private static final Set<String> LOGGERS =
      Set.of(
          "io.fabric8.kubernetes.client.informers.impl.cache.Reflector",
          "io.javaoperatorsdk.operator.processing.event.source.informer.InformerWrapper");

  @Override
  public FilterReply decide(ILoggingEvent event) {
    return event.getLevel().isGreaterOrEqual(Level.ERROR) && LOGGERS.contains(event.getLoggerName())
        ? FilterReply.DENY
        : FilterReply.NEUTRAL;
  }
}
