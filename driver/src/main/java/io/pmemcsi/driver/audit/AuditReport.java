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
    DEVICE_VANISHED,
    BAD_BLOCKS,
    READ_ONLY_FILESYSTEM,
    SHUT_DOWN_FILESYSTEM,
    UNFINISHED_CREATE,
    UNFINISHED_DELETE,
    EPHEMERAL_NOT_PUBLISHED,
    UNEXPECTED_MOUNT,
    LEFTOVER_MOUNT,
    LEFTOVER_LOOP,
    LEFTOVER_FILE,
    MODE_UNAVAILABLE,
    STALE_RECORD;

    /** Whether the data of a volume is lost, damaged or out of reach for its pods. */
    public boolean isAbnormalVolume() {
      return switch (this) {
        case RECORD_WITHOUT_DEVICE,
            DEVICE_VANISHED,
            BAD_BLOCKS,
            READ_ONLY_FILESYSTEM,
            SHUT_DOWN_FILESYSTEM ->
            true;
        case DAMAGED_RECORD,
            DEVICE_WITHOUT_RECORD,
            DEVICE_TOO_SMALL,
            UNFINISHED_CREATE,
            UNFINISHED_DELETE,
            EPHEMERAL_NOT_PUBLISHED,
            UNEXPECTED_MOUNT,
            LEFTOVER_MOUNT,
            LEFTOVER_LOOP,
            LEFTOVER_FILE,
            MODE_UNAVAILABLE,
            STALE_RECORD ->
            false;
      };
    }

    /** For tables and metric labels. */
    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /**
   * One thing that does not fit.
   *
   * @param subject the ID of a volume, or the name of a file in the state directory
   */
  public record Finding(Kind kind, String subject, String text, boolean repaired) {
    public Finding(Kind kind, VolumeId volume, String text, boolean repaired) {
      this(kind, volume.value(), text, repaired);
    }
  }

  /** Findings that need a human or another call. */
  public List<Finding> open() {
    return findings.stream().filter(finding -> !finding.repaired()).toList();
  }

  /** The same without findings about some volumes. */
  public AuditReport without(Predicate<VolumeId> leftOut) {
    return new AuditReport(
        volumes,
        devices,
        findings.stream()
            .filter(finding -> VolumeId.parse(finding.subject()).filter(leftOut).isEmpty())
            .toList());
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
                        finding.subject(),
                        finding.text(),
                        finding.repaired() ? " (repaired)" : ""))
        .collect(Collectors.joining("", summary, ""));
  }
}
