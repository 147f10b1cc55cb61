package io.pmemcsi.driver.device.ndctl;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/** Attributes that the kernel shows in files of one value each, and ndctl does not print. */
public record NamespaceAttributes(Path directory) {
  /** Where the kernel shows its persistent memory. */
  public static final NamespaceAttributes SYSFS =
      new NamespaceAttributes(Path.of("/sys/bus/nd/devices"));

  Optional<String> text(String device, String attribute) {
    try {
      return Optional.of(Files.readString(directory.resolve(device).resolve(attribute)).strip());
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      // a device that goes away, or an attribute that does not apply to its kind
      return Optional.empty();
    }
  }

  long number(String device, String attribute, long otherwise) {
    try {
      return text(device, attribute).map(Long::decode).orElse(otherwise);
    } catch (NumberFormatException e) {
      return otherwise;
    }
  }
}
