package io.pmemcsi.controller;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.names.DriverName;
import java.io.File;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** A controller in a process of its own, which a test can kill. */
final class ControllerMain {

  private ControllerMain() {}

  /**
   * Runs until it is killed.
   *
   * @param arguments kubeconfig, driver, namespace, port, directory of certificates, metrics port
   */
  public static void main(String[] arguments) throws InterruptedException {
    var client =
        new KubernetesClientBuilder()
            .withConfig(Config.fromKubeconfig(new File(arguments[0])))
            .build();
    Path certificates = Path.of(arguments[4]);
    var _ =
        ControllerProgram.start(
            client,
            new ControllerSettings(
                new DriverName(arguments[1]),
                arguments[2],
                "replica",
                Map.of(),
                Optional.of(new ListenAddress("127.0.0.1", Integer.parseInt(arguments[3]))),
                Optional.empty(),
                new ControllerSettings.CertificateFiles(
                    certificates.resolve("tls.crt"), certificates.resolve("tls.key")),
                Optional.of(new ListenAddress("127.0.0.1", Integer.parseInt(arguments[5]))),
                "/metrics"),
            SchedulingWorld.quick());
    new CountDownLatch(1).await();
  }
}
