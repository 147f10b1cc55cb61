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

  private static final String DOMAIN =
      "[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
  private static final String LABEL_KEY =
      "^(" + DOMAIN + "/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
  private static final String SHORT_PREFIX = "^[^/]{1,253}(/|$)";
  private static final String LABEL_KEYS_CEL =
      ".all(k, k.matches('" + LABEL_KEY + "') && k.matches('" + SHORT_PREFIX + "'))";
  private static final String NO_LABEL =
      " is not a label: use at most 63 letters, digits, dashes, underscores and dots, after a"
          + " domain and a slash if need be";

  public static final String NODE_SELECTOR_CEL =
      "!has(self.nodeSelector) || self.nodeSelector" + LABEL_KEYS_CEL;
  public static final String NODE_SELECTOR = "a key of nodeSelector" + NO_LABEL;

  public static final String LABELS_CEL = "!has(self.labels) || self.labels" + LABEL_KEYS_CEL;
  public static final String LABELS = "a key of labels" + NO_LABEL;

  static final String ANNOTATIONS =
      "is not the key of an annotation: use at most 63 letters, digits, dashes, underscores and"
          + " dots, after a domain and a slash if need be";

  /** A path on a node: absolute, not the root, and fit to be mounted. Empty is the default. */
  public static final String DIRECTORY_PATTERN = "^$|^(/[^/:]+)+/?$";

  /** Longer paths do not exist on Linux. */
  public static final int MAX_PATH = 4096;

  private static final Pattern DOTS = Pattern.compile("(^|/)[.][.]?(/|\\z)");
  private static final Pattern DOMAIN_NAMES = Pattern.compile(DOMAIN);
  private static final Pattern LABEL_KEYS = Pattern.compile(LABEL_KEY);
  private static final Pattern SHORT_PREFIXES = Pattern.compile(SHORT_PREFIX);

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
    found.addAll(labelKeys("spec.nodeSelector", spec.nodeSelector(), NODE_SELECTOR));
    found.addAll(labelKeys("spec.labels", spec.labels(), LABELS));
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
    return DOMAIN_NAMES.matcher(name).matches()
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

  /** Keys that Kubernetes does not take as names of labels or annotations. */
  static List<Violation> labelKeys(
      String field, @Nullable Map<String, String> labels, String problem) {
    return Optional.ofNullable(labels).stream()
        .flatMap(map -> map.keySet().stream().sorted())
        .filter(key -> !isLabelKey(key))
        .map(key -> new Violation(field, key, problem))
        .toList();
  }

  private static boolean isLabelKey(String key) {
    return LABEL_KEYS.matcher(key).matches() && SHORT_PREFIXES.matcher(key).find();
  }
}
