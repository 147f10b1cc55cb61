package io.pmemcsi.operator.generic;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.api.generic.CSIDriverDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Other resources that want the same. The older one keeps it, the younger one is told: whoever came
 * first may have volumes in use.
 *
 * @param config decides where sockets lie
 */
record Conflicts(OperatorConfig config) {

  private static final Comparator<HasMetadata> BY_AGE =
      Comparator.comparing((HasMetadata one) -> text(one.getMetadata().getCreationTimestamp()))
          .thenComparing(one -> text(one.getMetadata().getNamespace()))
          .thenComparing(one -> text(one.getMetadata().getName()));

  /** One line for each older resource that is in the way. */
  List<String> of(
      CSIDriverDeployment resource,
      Collection<CSIDriverDeployment> others,
      Optional<PmemCSIDeployment> sameNamedPmem) {
    var lines = new ArrayList<String>();
    Claims claims = Claims.of(resource, config);
    others.stream()
        .filter(other -> isOlder(other, resource))
        .sorted(BY_AGE)
        .forEach(
            other -> {
              List<String> shared = claims.sharedWith(Claims.of(other, config));
              if (!shared.isEmpty()) {
                lines.add(
                    line(
                        shared,
                        "CSIDriverDeployment \"%s\" in namespace \"%s\""
                            .formatted(
                                other.getMetadata().getName(),
                                other.getMetadata().getNamespace())));
              }
            });
    sameNamedPmem
        .filter(pmem -> isOlder(pmem, resource))
        .ifPresent(
            pmem ->
                lines.add(
                    line(
                        List.of("the driver name \"%s\"".formatted(claims.driverName())),
                        "PmemCSIDeployment \"%s\"".formatted(pmem.getMetadata().getName()))));
    return lines;
  }

  /** Younger ones that are to be told, now that this one wants the same. */
  List<CSIDriverDeployment> younger(
      CSIDriverDeployment resource, Collection<CSIDriverDeployment> others) {
    Claims claims = Claims.of(resource, config);
    return others.stream()
        .filter(other -> isOlder(resource, other))
        .filter(other -> !claims.sharedWith(Claims.of(other, config)).isEmpty())
        .toList();
  }

  private static String line(List<String> shared, String other) {
    return "%s, which is older, has %s already: change or delete one of the two"
        .formatted(other, shared.stream().collect(Collectors.joining(" and ")));
  }

  private static boolean isOlder(HasMetadata one, HasMetadata other) {
    return !isSame(one, other) && BY_AGE.compare(one, other) < 0;
  }

  private static boolean isSame(HasMetadata one, HasMetadata other) {
    return one.getKind().equals(other.getKind())
        && text(one.getMetadata().getUid()).equals(text(other.getMetadata().getUid()));
  }

  private static String text(String value) {
    return value == null ? "" : value;
  }
}
