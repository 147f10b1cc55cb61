package io.pmemcsi.operator;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** The operator as a process of its own, which can be stopped and killed for real. */
final class OperatorMain {

  private OperatorMain() {}

  /**
   * Runs until it is killed.
   *
   * @param arguments a kubeconfig and a namespace
   */
  public static void main(String[] arguments) throws InterruptedException {
    OperatorProgram.start(
        new OperatorOptions(
            Optional.of(Path.of(arguments[0])),
            Optional.of(InstalledOperator.IMAGE),
            Optional.empty(),
            true),
        Map.of("WATCH_NAMESPACE", arguments[1]));
    new CountDownLatch(1).await();
  }
}
