package io.pmemcsi.controller;

import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The controller in a process of its own. */
final class ControllerProcess {

  private ControllerProcess() {}

  /** Starts it and waits until it is ready. */
  static ChildProcess start(SchedulingWorld world, int port, List<String> options)
      throws IOException {
    int metrics = freePort();
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            ControllerMain.class.getName(),
            TestCluster.get().kubeconfig().toString(),
            world.driver.value(),
            world.sandbox.namespace(),
            Integer.toString(port),
            world.certificates.toString(),
            Integer.toString(metrics)));
    ChildProcess process =
        ChildProcess.start("controller", world.certificates.resolve("controller.log"), command);
    process.awaitReady(Duration.ofMinutes(2), () -> isReady(metrics));
    return process;
  }

  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static boolean isReady(int metrics) {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
              .send(
                  HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + metrics + "/readyz"))
                      .build(),
                  BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
