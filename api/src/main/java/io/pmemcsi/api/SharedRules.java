package io.pmemcsi.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Rules that several kinds have: each in CEL, for servers that know it, and in Java, for those that
 * do not, with the same message.
 */
public final class SharedRules {

  public static final String PULL_POLICY_CEL =
      "!has(self.pullPolicy) || !has(self.imagePullPolicy)"
          + " || self.pullPolicy == self.imagePullPolicy";
  public static final String PULL_POLICY =
      "pullPolicy and imagePullPolicy differ: set one of them, or both to the same value";

  public static final String REGISTRAR_IMAGE_CEL =
      "!has(self.nodeRegistrarImage) || !has(self.registrarImage)"
          + " || self.nodeRegistrarImage == '' || self.registrarImage == ''"
          + " || self.nodeRegistrarImage == self.registrarImage";
  public static final String REGISTRAR_IMAGE =
      "nodeRegistrarImage and registrarImage differ: set one of them, or both to the same value";

  public static final String KUBELET_DIR_CEL =
      "!has(self.kubeletDir) || !self.kubeletDir.matches('(^|/)[.][.]?(/|$)')";
  public static final String KUBELET_DIR =
      "kubeletDir has a part . or ..: write the path without them";

  /** A path on a node: absolute, not the root, and fit to be mounted. Empty is the default. */
  public static final String DIRECTORY_PATTERN = "^$|^(/[^/:]+)+/?$";

  /** Longer paths do not exist on Linux. */
  public static final int MAX_PATH = 4096;

  private static final Pattern DOTS = Pattern.compile("(^|/)[.][.]?(/|\\z)");
  private static final Pattern DOMAIN =
      Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
  private static final Pattern LABEL_NAME =
      Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?");
  private static final int MAX_LABEL_PREFIX = 253;
  private static final int MAX_LABEL_NAME = 63;

  private SharedRules() {}

  /** What is wrong with the fields that both kinds of PMEM-CSI deployments have. */
  public static List<Violation> shared(SharedSpec spec) {
    List<Violation> found = new ArrayList<>();
    differ(
            "spec",
            Written.text(spec.pullPolicy()),
            Written.text(spec.imagePullPolicy()),
            PULL_POLICY)
        .ifPresent(found::add);
    differ(
            "spec",
            Written.text(spec.nodeRegistrarImage()),
            Written.text(spec.registrarImage()),
            REGISTRAR_IMAGE)
        .ifPresent(found::add);
    Written.text(spec.kubeletDir())
        .filter(SharedRules::hasDots)
        .map(dir -> new Violation("spec", dir, KUBELET_DIR))
        .ifPresent(found::add);
    found.addAll(labelKeys("spec.nodeSelector", spec.nodeSelector()));
    found.addAll(labelKeys("spec.labels", spec.labels()));
    return found;
  }

  /** Two spellings of one field that contradict each other. */
  public static Optional<Violation> differ(
      String field, Optional<?> one, Optional<?> other, String problem) {
    return one.isPresent() && other.isPresent() && !Objects.equals(one, other)
        ? Optional.of(new Violation(field, one.get().toString(), problem))
        : Optional.empty();
  }

  /** The name of a resource that Kubernetes does not take, which a file may have. */
  public static Optional<Violation> name(@Nullable String name) {
    if (name == null || name.isEmpty()) {
      return Optional.of(new Violation("metadata.name", "", "is missing: set it"));
    }
    return DOMAIN.matcher(name).matches()
        ? Optional.empty()
        : Optional.of(
            new Violation(
                "metadata.name",
                name,
                "is not a domain name: use lower case letters, digits, dashes and dots, each part"
                    + " starting and ending with a letter or digit"));
  }

  /** Whether a path has a part that is {@code .} or {@code ..}. */
  public static boolean hasDots(String path) {
    return DOTS.matcher(path).find();
  }

  /**
   * Keys that Kubernetes does not take as names of labels; no schema can check the keys of a map.
   */
  public static List<Violation> labelKeys(String field, @Nullable Map<String, String> labels) {
    List<Violation> found = new ArrayList<>();
    if (labels != null) {
      labels.keySet().stream()
          .sorted()
          .filter(key -> !isLabelKey(key))
          .map(
              key ->
                  new Violation(
                      field,
                      key,
                      "is not a label: use at most 63 letters, digits, dashes, underscores and"
                          + " dots, after a domain and a slash if need be"))
          .forEach(found::add);
    }
    return found;
  }

  private static boolean isLabelKey(String key) {
    int slash = key.indexOf('/');
    String prefix = slash < 0 ? "x" : key.substring(0, slash);
    String name = key.substring(slash + 1);
    return prefix.length() <= MAX_LABEL_PREFIX
        && DOMAIN.matcher(prefix).matches()
        && name.length() <= MAX_LABEL_NAME
        && LABEL_NAME.matcher(name).matches();
  }
}
