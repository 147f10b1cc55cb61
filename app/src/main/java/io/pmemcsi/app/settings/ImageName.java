package io.pmemcsi.app.settings;

/** The name of a container image: what it means is between the runtime and its registry. */
public record ImageName(String value) {

  public ImageName {
    if (value.isEmpty() || value.chars().anyMatch(Character::isWhitespace)) {
      throw new IllegalArgumentException(
          "not an image name: write a name such as" + " registry.example.org/pmem-csi-driver:1.0");
    }
  }
}
