package io.pmemcsi.driver.volume;

import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.DeviceMode;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** A place where parameters are written down; each has its own rules. */
public enum ParameterSource {
  STORAGE_CLASS("persistent volume"),
  EPHEMERAL_CONTEXT("ephemeral inline volume parameters"),
  PERSISTENT_CONTEXT("persistent volume context"),
  LEDGER("ledger");

  /** Linux has at most 1024 NUMA nodes. */
  private static final Pattern NUMBER = Pattern.compile("\\d{1,4}");

  private final String title;

  ParameterSource(String title) {
    this.title = title;
  }

  /**
   * Reads parameters.
   *
   * @throws IllegalArgumentException naming the place, the key and the value
   */
  public VolumeParameters parse(Map<String, String> written) {
    try {
      return build(collect(written));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(title + ": " + e.getMessage(), e);
    }
  }

  /** The kind of volume according to Kubernetes, if it sets the key. */
  public static Optional<Boolean> ephemeralFlag(Map<String, String> context) {
    String key = ParameterKey.KUBERNETES_EPHEMERAL.text();
    return Optional.ofNullable(context.get(key)).map(value -> bool(key, value));
  }

  /** Whether a volume went through a provisioner: then it is not an ephemeral one. */
  public static boolean wasProvisioned(Map<String, String> context) {
    return context.containsKey(ParameterKey.PROVISIONER.text());
  }

  /** The NUMA node that a storage class asks for; all else in it is not read. */
  public static OptionalInt requestedNumaNode(Map<String, String> storageClass) {
    String key = ParameterKey.NUMA_NODE.text();
    return Optional.ofNullable(storageClass.get(key))
        .map(value -> STORAGE_CLASS.parse(Map.of(key, value)).numaNode())
        .orElse(OptionalInt.empty());
  }

  private Map<ParameterKey, String> collect(Map<String, String> written) {
    Map<ParameterKey, String> values = new EnumMap<>(ParameterKey.class);
    written.forEach(
        (text, value) -> {
          ParameterKey key =
              ParameterKey.find(text)
                  .filter(known -> known.isAllowedIn(this))
                  .orElseThrow(
                      () ->
                          new IllegalArgumentException(
                              "parameter \"%s\" invalid in this context".formatted(text)));
          String before = values.put(key, value);
          if (before != null && !before.equals(value) && key != ParameterKey.KUBERNETES_ANY) {
            throw new IllegalArgumentException(
                "parameter \"%s\" is there twice, with \"%s\" and \"%s\""
                    .formatted(key.text(), before, value));
          }
        });
    return values;
  }

  private VolumeParameters build(Map<ParameterKey, String> values) {
    boolean kata = bool(values, ParameterKey.KATA_CONTAINERS, false);
    OptionalLong size = size(values);
    if (this == EPHEMERAL_CONTEXT && size.isEmpty()) {
      throw new IllegalArgumentException("parameter \"size\" is missing, write for example 100Mi");
    }
    return new VolumeParameters(
        bool(values, ParameterKey.ERASE_AFTER, true),
        kata,
        usage(values),
        this == EPHEMERAL_CONTEXT || isEphemeral(values),
        values.getOrDefault(ParameterKey.NAME, ""),
        size,
        deviceMode(values),
        numaNode(values));
  }

  private boolean isEphemeral(Map<ParameterKey, String> values) {
    String model = values.getOrDefault(ParameterKey.PERSISTENCY, "normal");
    return switch (model) {
      case "", "normal", "none" -> false;
      case "ephemeral" -> {
        if (this == STORAGE_CLASS) {
          throw bad(ParameterKey.PERSISTENCY, model, "use normal");
        }
        yield true;
      }
      case "cache" -> {
        if (this == STORAGE_CLASS) {
          throw bad(ParameterKey.PERSISTENCY, model, "use normal");
        }
        yield false;
      }
      default -> throw bad(ParameterKey.PERSISTENCY, model, "use normal");
    };
  }

  private static AccessModel usage(Map<ParameterKey, String> values) {
    String text = values.getOrDefault(ParameterKey.USAGE, "");
    return text.isEmpty()
        ? AccessModel.APP_DIRECT
        : AccessModel.parse(text)
            .orElseThrow(() -> bad(ParameterKey.USAGE, text, "use AppDirect or FileIO"));
  }

  private static Optional<DeviceMode> deviceMode(Map<ParameterKey, String> values) {
    return Optional.ofNullable(values.get(ParameterKey.DEVICE_MODE))
        .filter(text -> !text.isEmpty())
        .map(
            text ->
                DeviceMode.parse(text)
                    .orElseThrow(
                        () -> bad(ParameterKey.DEVICE_MODE, text, "use lvm, direct or file")));
  }

  private static OptionalInt numaNode(Map<ParameterKey, String> values) {
    String text = values.get(ParameterKey.NUMA_NODE);
    if (text == null) {
      return OptionalInt.empty();
    }
    if (!NUMBER.matcher(text).matches()) {
      throw bad(ParameterKey.NUMA_NODE, text, "write the number of a NUMA node, for example 0");
    }
    return OptionalInt.of(Integer.parseInt(text));
  }

  private static OptionalLong size(Map<ParameterKey, String> values) {
    String text = values.get(ParameterKey.SIZE);
    if (text == null) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Quantity.parseBytes(text));
    } catch (IllegalArgumentException e) {
      throw bad(ParameterKey.SIZE, text, String.valueOf(e.getMessage()));
    }
  }

  private static boolean bool(
      Map<ParameterKey, String> values, ParameterKey key, boolean otherwise) {
    String text = values.get(key);
    return text == null ? otherwise : bool(key.text(), text);
  }

  private static boolean bool(String key, String text) {
    return switch (text) {
      case "1", "t", "T", "TRUE", "true", "True" -> true;
      case "0", "f", "F", "FALSE", "false", "False" -> false;
      default ->
          throw new IllegalArgumentException(
              "parameter \"%s\": \"%s\" is neither true nor false".formatted(key, text));
    };
  }

  private static IllegalArgumentException bad(ParameterKey key, String value, String hint) {
    return new IllegalArgumentException(
        "parameter \"%s\": invalid value \"%s\", %s".formatted(key.text(), value, hint));
  }
}
