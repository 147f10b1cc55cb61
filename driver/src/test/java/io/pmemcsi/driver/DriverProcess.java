package io.pmemcsi.driver;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** The driver as a process that can be killed, and that closes when it is stopped. */
final class DriverProcess {

  private DriverProcess() {}

  public static void main(String[] args) throws InterruptedException {
    NodeDriver driver = NodeDriver.start(FileModeDriver.settings(Path.of(args[0])));
    Runtime.getRuntime().addShutdownHook(new Thread(driver::close));
    System.out.println("ready");
    new CountDownLatch(1).await();
  }
}
