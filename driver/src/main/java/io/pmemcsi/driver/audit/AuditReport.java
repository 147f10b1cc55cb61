package io.pmemcsi.driver.audit;

import io.pmemcsi.driver.device.VolumeId;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What a comparison of ledger, devices and mounts has found. */
public record AuditReport(int volumes, int devices, List<Finding> findings) {

  public AuditReport {
    findings = List.copyOf(findings);
  }

  /** What can be wrong. */
  public enum Kind {
    DAMAGED_RECORD,
    RECORD_WITHOUT_DEVICE,
    DEVICE_WITHOUT_RECORD,
    DEVICE_TOO_SMALL,
    UNFINISHED_CREATE,
    UNFINISHED_DELETE,
    EPHEMERAL_NOT_PUBLISHED,
    UNEXPECTED_MOUNT,
    LEFTOVER_MOUNT,
    LEFTOVER_LOOP,
    MODE_UNAVAILABLE,
    STALE_RECORD;

    /** For tables and metric labels. */
    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** One thing that does not fit. */
  public record Finding(Kind kind, VolumeId volume, String text, boolean repaired) {}

  /** Findings that need a human or another call. */
  public List<Finding> open() {
    return findings.stream().filter(finding -> !finding.repaired()).toList();
  }

  /** The same without findings about some volumes. */
  public AuditReport without(Predicate<VolumeId> leftOut) {
    return new AuditReport(
        volumes,
        devices,
        findings.stream().filter(finding -> !leftOut.test(finding.volume())).toList());
  }

  /** For people. */
  @Override
  public String toString() {
    String summary =
        "%d volumes in the ledger, %d devices, %d findings"
            .formatted(volumes, devices, findings.size());
    return findings.stream()
        .map(
            finding ->
                "%n%-24s %-64s %s%s"
                    .formatted(
                        finding.kind().text(),
                        finding.volume(),
                        finding.text(),
                        finding.repaired() ? " (repaired)" : ""))
        .collect(Collectors.joining("", summary, ""));
  }
}
