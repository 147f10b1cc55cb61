package io.pmemcsi.driver.guest;

import io.pmemcsi.driver.RawNamespaces;

/** Runs in the guest: converts raw namespaces twice and prints how many there are each time. */
final class ConvertMain {
  private ConvertMain() {}

  public static void main(String[] args) {
    RawNamespaces namespaces = new RawNamespaces();
    System.out.println("converted " + namespaces.convert() + " " + namespaces.convert());
  }
}
