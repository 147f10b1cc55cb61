package io.pmemcsi.base.log;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.core.spi.ContextAwareBase;

/**
 * What holds until the flags are read, and in tests: found by the log library itself, whose own
 * default would show every frame of every connection. The system property {@code pmem-csi.v} sets
 * the level.
 */
public final class DefaultLogging extends ContextAwareBase implements Configurator {

  @Override
  public ExecutionStatus configure(LoggerContext context) {
    Verbosity verbosity =
        new Verbosity(Integer.getInteger("pmem-csi.v", Verbosity.PRODUCTION.value()));
    Logging.configure(context, LogFormat.TEXT, verbosity, System.err);
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }
}
