package io.pmemcsi.controller.volume;

import io.pmemcsi.base.names.DriverName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Decides which volumes of a pod are volumes of one driver that have to be created for it. */
public final class VolumeNeeds {

  /** What the provisioner asks for if a claim does not say. */
  private static final long UNSPECIFIED = 1L << 30;

  /** More than a kubelet can mount for a pod in good time. Each takes memory on each node. */
  static final int MAX_VOLUMES = 256;

  /** Twice the namespace, name and volume name of a pod, as long as Kubernetes allows them. */
  private static final int MAX_NAMES = 800;

  private final String driver;
  private final VolumeLookup lookup;

  public VolumeNeeds(DriverName driver, VolumeLookup lookup) {
    this.driver = driver.value();
    this.lookup = lookup;
  }

  /** The volumes that do not exist yet and whose node is still open. */
  public List<NeededVolume> of(PodVolumes pod) throws UnknownNeedException {
    var needed = new ArrayList<NeededVolume>();
    for (PodVolumes.Volume volume : pod.volumes()) {
      switch (volume) {
        case PodVolumes.ClaimReference reference ->
            ofClaim(pod.namespace(), reference.claimName(), existing(pod, reference))
                .ifPresent(needed::add);
        case PodVolumes.Inline inline -> ofInline(pod, inline).ifPresent(needed::add);
        case PodVolumes.Generic generic -> ofGeneric(pod, generic).ifPresent(needed::add);
      }
      if (needed.size() > MAX_VOLUMES) {
        throw new UnknownNeedException(
            "checking for unbound volumes: the pod has more than %d new volumes of driver %s: use fewer"
                .formatted(MAX_VOLUMES, driver));
      }
      if (!needed.isEmpty() && pod.key().length() + needed.getLast().key().length() > MAX_NAMES) {
        throw new UnknownNeedException(
            "checking for unbound volumes: the names of the pod and its volumes are longer than"
                + " Kubernetes allows");
      }
    }
    return needed;
  }

  /**
   * Whether a pod has to pass the scheduler extender. A claim or class that does not exist yet
   * counts as one of another driver: pods without PMEM must never depend on this one.
   */
  public boolean concern(PodVolumes pod) {
    return pod.volumes().stream()
        .anyMatch(
            volume ->
                switch (volume) {
                  case PodVolumes.ClaimReference(String _, String claim) ->
                      lookup
                          .claim(pod.namespace(), claim)
                          .filter(found -> isLateBinding(found.className()))
                          .isPresent();
                  case PodVolumes.Inline inline -> inline.driver().equals(driver);
                  case PodVolumes.Generic generic -> isLateBinding(className(generic));
                });
  }

  private Claim existing(PodVolumes pod, PodVolumes.ClaimReference reference)
      throws UnknownNeedException {
    return lookup
        .claim(pod.namespace(), reference.claimName())
        .orElseThrow(
            () ->
                new UnknownNeedException(
                    "look up claim: persistentvolumeclaim \"%s\" not found in namespace \"%s\""
                        .formatted(reference.claimName(), pod.namespace())));
  }

  private Optional<NeededVolume> ofClaim(String namespace, String name, Claim claim)
      throws UnknownNeedException {
    if (claim.bound() || !isLateBindingClass(claim.className())) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new NeededVolume(
              Claim.key(namespace, name),
              claim.bytes() == 0 ? UNSPECIFIED : claim.bytes(),
              lookup.volumeClass(claim.className()).map(VolumeClass::numaNode).orElse("")));
    } catch (IllegalArgumentException e) {
      throw new UnknownNeedException(
          "look up storage class: storageclass \"%s\": %s"
              .formatted(claim.className(), e.getMessage()));
    }
  }

  private Optional<NeededVolume> ofInline(PodVolumes pod, PodVolumes.Inline inline)
      throws UnknownNeedException {
    if (!inline.driver().equals(driver)) {
      return Optional.empty();
    }
    try {
      if (inline.size().isEmpty()) {
        throw new IllegalArgumentException("parameter \"size\" is missing: write for example 4Gi");
      }
      return Optional.of(
          new NeededVolume(
              NeededVolume.inlineKey(pod.key(), inline.name()),
              ByteQuantity.parse(inline.size()),
              inline.numaNode()));
    } catch (IllegalArgumentException e) {
      throw new UnknownNeedException(
          "checking for unbound volumes: ephemeral inline volume %s: %s"
              .formatted(inline.name(), e.getMessage()));
    }
  }

  /** Kubernetes may not have created the claim yet: then its template says what it will be. */
  private Optional<NeededVolume> ofGeneric(PodVolumes pod, PodVolumes.Generic generic)
      throws UnknownNeedException {
    String name = generic.claimName(pod.name());
    Optional<Claim> claim = lookup.claim(pod.namespace(), name);
    if (claim.isPresent()) {
      return ofClaim(pod.namespace(), name, claim.get());
    }
    try {
      long bytes = generic.request().isEmpty() ? 0 : ByteQuantity.parse(generic.request());
      return ofClaim(pod.namespace(), name, new Claim(false, className(generic), bytes, ""));
    } catch (IllegalArgumentException e) {
      throw new UnknownNeedException(
          "checking for unbound volumes: generic ephemeral volume %s: %s"
              .formatted(generic.name(), e.getMessage()));
    }
  }

  private String className(PodVolumes.Generic generic) {
    return generic.className().isEmpty() ? lookup.defaultClass().orElse("") : generic.className();
  }

  private boolean isLateBindingClass(String name) throws UnknownNeedException {
    if (name.isEmpty()) {
      return false;
    }
    if (lookup.volumeClass(name).isEmpty()) {
      throw new UnknownNeedException(
          "look up storage class: storageclass \"%s\" not found".formatted(name));
    }
    return isLateBinding(name);
  }

  private boolean isLateBinding(String className) {
    return lookup
        .volumeClass(className)
        .filter(found -> found.provisioner().equals(driver) && found.lateBinding())
        .isPresent();
  }
}
