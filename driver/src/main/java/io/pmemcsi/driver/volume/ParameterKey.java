package io.pmemcsi.driver.volume;

import static io.pmemcsi.driver.volume.ParameterSource.EPHEMERAL_CONTEXT;
import static io.pmemcsi.driver.volume.ParameterSource.LEDGER;
import static io.pmemcsi.driver.volume.ParameterSource.PERSISTENT_CONTEXT;
import static io.pmemcsi.driver.volume.ParameterSource.STORAGE_CLASS;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The parameters and where each of them may stand. */
enum ParameterKey {
  ERASE_AFTER("eraseafter", STORAGE_CLASS, EPHEMERAL_CONTEXT, PERSISTENT_CONTEXT, LEDGER),
  KATA_CONTAINERS("kataContainers", STORAGE_CLASS, EPHEMERAL_CONTEXT, PERSISTENT_CONTEXT, LEDGER),
  USAGE("usage", STORAGE_CLASS, EPHEMERAL_CONTEXT, PERSISTENT_CONTEXT, LEDGER),
  PERSISTENCY("persistencyModel", STORAGE_CLASS, PERSISTENT_CONTEXT, LEDGER),
  /** Not in the ledger: the device shows where a volume is. */
  NUMA_NODE("numaNode", STORAGE_CLASS, EPHEMERAL_CONTEXT, PERSISTENT_CONTEXT),
  /** Of releases that knew volumes on several nodes; still found in their ledgers. */
  CACHE_SIZE("cacheSize", PERSISTENT_CONTEXT, LEDGER),
  SIZE("size", EPHEMERAL_CONTEXT, LEDGER),
  NAME("name", PERSISTENT_CONTEXT, LEDGER),
  DEVICE_MODE("deviceMode", LEDGER),
  KUBERNETES_EPHEMERAL("csi.storage.k8s.io/ephemeral", EPHEMERAL_CONTEXT, PERSISTENT_CONTEXT),
  KUBERNETES_ANY("csi.storage.k8s.io/", EPHEMERAL_CONTEXT, PERSISTENT_CONTEXT),
  PROVISIONER("storage.kubernetes.io/csiProvisionerIdentity", PERSISTENT_CONTEXT);

  private final String text;

  @SuppressWarnings("ImmutableEnumChecker") // it is, by the constructor
  private final Set<ParameterSource> allowed;

  ParameterKey(String text, ParameterSource first, ParameterSource... others) {
    this.text = text;
    this.allowed = Set.copyOf(EnumSet.of(first, others));
  }

  String text() {
    return text;
  }

  boolean isAllowedIn(ParameterSource source) {
    return allowed.contains(source);
  }

  /** The key that is meant; two of them are documented in one spelling and known in another. */
  static Optional<ParameterKey> find(String written) {
    if (written.equals("eraseAfter")) {
      return Optional.of(ERASE_AFTER);
    }
    if (written.toLowerCase(Locale.ROOT).equals("katacontainers")) {
      return Optional.of(KATA_CONTAINERS);
    }
    for (ParameterKey key : values()) {
      if (key.text.equals(written)) {
        return Optional.of(key);
      }
    }
    return written.startsWith(KUBERNETES_ANY.text) ? Optional.of(KUBERNETES_ANY) : Optional.empty();
  }
}
