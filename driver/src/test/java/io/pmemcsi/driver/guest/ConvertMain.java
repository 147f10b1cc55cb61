package io.pmemcsi.driver.guest;

import io.pmemcsi.driver.command.CommandRunner;
import io.pmemcsi.driver.command.ProcessRunner;
import io.pmemcsi.driver.device.lvm.RawConversion;
import io.pmemcsi.driver.device.ndctl.Ndctl;

/** Runs in the guest: converts raw namespaces twice and prints how many there are each time. */
final class ConvertMain {
  private ConvertMain() {}

  public static void main(String[] args) {
    CommandRunner runner = new ProcessRunner();
    RawConversion conversion = new RawConversion(new Ndctl(runner), runner);
    System.out.println("converted " + conversion.convert() + " " + conversion.convert());
  }
}
