package io.pmemcsi.base.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.EncoderBase;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.ZoneId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets logging up in code: reading an XML configuration would cost a third of a second at each
 * start.
 */
public final class Logging {

  private Logging() {}

  /** Sends all logging to standard error from now on. */
  public static void configure(LogFormat format, Verbosity verbosity) {
    configure(format, verbosity, System.err);
  }

  /** Sends all logging to a stream from now on. */
  public static void configure(LogFormat format, Verbosity verbosity, OutputStream out) {
    configure((LoggerContext) LoggerFactory.getILoggerFactory(), format, verbosity, out);
    JulBridge.install();
  }

  static void configure(
      LoggerContext context, LogFormat format, Verbosity verbosity, OutputStream out) {
    context.reset();
    EncoderBase<ILoggingEvent> encoder =
        switch (format) {
          case TEXT -> new KlogEncoder(ZoneId.systemDefault(), ProcessHandle.current().pid());
          case JSON -> new JsonLineEncoder();
        };
    encoder.setContext(context);
    encoder.start();
    OutputStreamAppender<ILoggingEvent> appender = new OutputStreamAppender<>();
    appender.setContext(context);
    appender.setName(format.toString());
    appender.setEncoder(encoder);
    appender.setOutputStream(new Borrowed(out));
    if (!verbosity.forDevelopers()) {
      appender.addFilter(new OwnLoggerFilter());
    }
    appender.start();

    ch.qos.logback.classic.Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(verbosity.libraries());
    root.addAppender(appender);
    context.getLogger("io.pmemcsi").setLevel(verbosity.own());
    // warns about every API with a version like v1beta1, including this project's
    context
        .getLogger("io.fabric8.kubernetes.client.dsl.internal.VersionUsageUtils")
        .setLevel(Level.ERROR);
    // warns about socket options that Unix sockets do not have, at each connection
    context.getLogger("io.grpc.netty.shaded.io.netty.bootstrap").setLevel(Level.ERROR);
    // these warn of a wrong kubeconfig in their own words, before we name it in one line
    if (!verbosity.forDevelopers()) {
      context.getLogger("io.fabric8.kubernetes.client.internal.SSLUtils").setLevel(Level.ERROR);
      context
          .getLogger("io.fabric8.kubernetes.client.internal.KubeConfigUtils")
          .setLevel(Level.ERROR);
    }
  }

  /** A stream that outlives the appender: a new set-up stops the old one, which closes it. */
  private static final class Borrowed extends FilterOutputStream {

    Borrowed(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      out.write(bytes, offset, length);
    }

    @Override
    public void close() throws IOException {
      flush();
    }
  }
}
