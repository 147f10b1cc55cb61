package io.pmemcsi.driver;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** The driver as a process that can be killed. */
final class DriverProcess {

  private DriverProcess() {}

  public static void main(String[] args) throws InterruptedException {
    try (NodeDriver _ = NodeDriver.start(FileModeDriver.settings(Path.of(args[0])))) {
      System.out.println("ready");
      new CountDownLatch(1).await();
    }
  }
}
