package io.pmemcsi.operator;

import io.pmemcsi.operator.runtime.ApiAccess;
import io.pmemcsi.operator.runtime.KubeconfigContent;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import java.nio.file.Files;
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
  public static void main(String[] arguments) throws Exception {
    Path kubeconfig = Path.of(arguments[0]);
    var content = Optional.of(new KubeconfigContent(kubeconfig, Files.readString(kubeconfig)));
    OperatorProgram.start(
        ApiAccess.client(content),
        new OperatorOptions(
            content,
            Optional.of(InstalledOperator.IMAGE),
            Optional.empty(),
            true,
            Optional.empty()),
        Map.of("WATCH_NAMESPACE", arguments[1]),
        failure -> Runtime.getRuntime().halt(1));
    new CountDownLatch(1).await();
  }
}
