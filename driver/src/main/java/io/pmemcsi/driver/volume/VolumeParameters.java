package io.pmemcsi.driver.volume;

import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.DeviceMode;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * How a volume is to be treated; part of its ledger entry.
 *
 * @param eraseAfter overwrite all of it when it is deleted
 * @param kataContainers publish a filesystem inside an image file that Kata can map as memory
 * @param ephemeral lives and dies with one pod
 * @param name the name that the caller of CSI gave it, empty in a request
 * @param sizeBytes only in the parameters of ephemeral volumes
 * @param deviceMode where its device comes from, empty in requests and in the oldest ledgers
 * @param numaNode the NUMA node whose memory a request wants, empty for any; the ledger does not
 *     keep it, because the device of a volume shows where it is
 */
public record VolumeParameters(
    boolean eraseAfter,
    boolean kataContainers,
    AccessModel accessModel,
    boolean ephemeral,
    String name,
    OptionalLong sizeBytes,
    Optional<DeviceMode> deviceMode,
    OptionalInt numaNode) {

  /** What a storage class without parameters means. */
  public static final VolumeParameters DEFAULTS =
      new VolumeParameters(
          true,
          false,
          AccessModel.APP_DIRECT,
          false,
          "",
          OptionalLong.empty(),
          Optional.empty(),
          OptionalInt.empty());

  public VolumeParameters {
    if (kataContainers && accessModel != AccessModel.APP_DIRECT) {
      throw new IllegalArgumentException(
          "parameters kataContainers=true and usage=%s exclude each other"
              .formatted(accessModel.text()));
    }
  }

  /** The same for a volume that gets a name and a device. */
  public VolumeParameters named(String newName, DeviceMode mode) {
    return new VolumeParameters(
        eraseAfter,
        kataContainers,
        accessModel,
        ephemeral,
        newName,
        sizeBytes,
        Optional.of(mode),
        OptionalInt.empty());
  }

  /** Whether an existing volume with these parameters satisfies a request. */
  public boolean isCompatibleWith(VolumeParameters requested) {
    return eraseAfter == requested.eraseAfter
        && kataContainers == requested.kataContainers
        && accessModel == requested.accessModel
        && ephemeral == requested.ephemeral;
  }

  /** The volume context, which callers of CSI return with each use of the volume. */
  public Map<String, String> toContext() {
    Map<String, String> context = common();
    context.put(ParameterKey.PERSISTENCY.text(), ephemeral ? "ephemeral" : "normal");
    return context;
  }

  /** The same for a volume in the memory of a NUMA node, where it is known. */
  public Map<String, String> toContext(OptionalInt location) {
    Map<String, String> context = toContext();
    location.ifPresent(node -> context.put(ParameterKey.NUMA_NODE.text(), Integer.toString(node)));
    return context;
  }

  /** What the ledger keeps, in the spelling that every 1.x release can read. */
  public Map<String, String> toLedger() {
    Map<String, String> stored = common();
    stored.put(ParameterKey.PERSISTENCY.text(), ephemeral ? "ephemeral" : "normal");
    sizeBytes.ifPresent(size -> stored.put(ParameterKey.SIZE.text(), Long.toString(size)));
    deviceMode.ifPresent(mode -> stored.put(ParameterKey.DEVICE_MODE.text(), mode.text()));
    return stored;
  }

  private Map<String, String> common() {
    Map<String, String> map = new TreeMap<>();
    map.put(ParameterKey.ERASE_AFTER.text(), Boolean.toString(eraseAfter));
    if (kataContainers) {
      map.put(ParameterKey.KATA_CONTAINERS.text(), "true");
    }
    if (accessModel != AccessModel.APP_DIRECT) {
      // releases before 1.1 refuse the key, so it is written only if it differs from the default
      map.put(ParameterKey.USAGE.text(), accessModel.text());
    }
    if (!name.isEmpty()) {
      map.put(ParameterKey.NAME.text(), name);
    }
    return map;
  }
}
