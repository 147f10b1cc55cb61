package io.pmemcsi.controller.volume;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Claims and classes that a test makes up. */
public final class KnownVolumes implements VolumeLookup {

  public static final String DRIVER = "pmem-csi.intel.com";
  public static final String LATE = "pmem-late";

  private final Map<String, Claim> claims = new HashMap<>();
  private final Map<String, VolumeClass> classes = new HashMap<>();
  private Optional<String> defaultClass = Optional.empty();

  /** Has classes of this driver and of another one. */
  public KnownVolumes() {
    classes.put(LATE, new VolumeClass(DRIVER, true, ""));
    classes.put("pmem-immediate", new VolumeClass(DRIVER, false, ""));
    classes.put("other-late", new VolumeClass("other.example.com", true, ""));
  }

  public KnownVolumes claim(String name, Claim claim) {
    claims.put(Claim.key("default", name), claim);
    return this;
  }

  /** An unbound claim of a late-binding class of this driver. */
  public KnownVolumes claim(String name, long bytes) {
    return claim(name, new Claim(false, LATE, bytes, ""));
  }

  KnownVolumes classOf(String name, VolumeClass volumeClass) {
    classes.put(name, volumeClass);
    return this;
  }

  KnownVolumes defaultClass(String name) {
    defaultClass = Optional.of(name);
    return this;
  }

  @Override
  public Optional<Claim> claim(String namespace, String name) {
    return Optional.ofNullable(claims.get(Claim.key(namespace, name)));
  }

  @Override
  public Optional<VolumeClass> volumeClass(String name) {
    return Optional.ofNullable(classes.get(name));
  }

  @Override
  public Optional<String> defaultClass() {
    return defaultClass;
  }
}
