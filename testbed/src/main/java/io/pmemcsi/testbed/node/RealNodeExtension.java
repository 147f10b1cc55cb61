package io.pmemcsi.testbed.node;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Starts a node when the first test asks for it, and stops it when the JVM ends: where several JVMs
 * share the classes of a module, each class is a run of its own for JUnit, and its stores would end
 * with it.
 */
final class RealNodeExtension implements ParameterResolver {

  private static @Nullable RealNode node;

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == RealNode.class;
  }

  @Override
  public RealNode resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return node();
  }

  private static synchronized RealNode node() {
    RealNode running = node;
    if (running == null) {
      running = RealNode.start();
      node = running;
      Runtime.getRuntime().addShutdownHook(new Thread(running::close, "real-node-stop"));
    }
    return running;
  }
}
