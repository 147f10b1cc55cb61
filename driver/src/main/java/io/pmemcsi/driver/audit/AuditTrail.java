package io.pmemcsi.driver.audit;

import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.device.VolumeId;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The findings of one look after the other while calls come and go.
 *
 * <p>A look sees whatever a call has half done at that moment, so only what two looks in a row have
 * found counts. What the next one does not find is resolved.
 */
public final class AuditTrail {

  private record Subject(AuditReport.Kind kind, VolumeId volume) {}

  private Set<Subject> last;
  private Set<Subject> told;

  /** Begins with what was found before the first call came, which counts as it is. */
  public AuditTrail(AuditReport start) {
    last = subjects(start.open());
    told = last;
  }

  /**
   * What counts now.
   *
   * @param report all that holds
   * @param fresh the part of it that is news
   */
  public record Confirmed(AuditReport report, List<Finding> fresh) {
    public Confirmed {
      fresh = List.copyOf(fresh);
    }
  }

  /** Takes the next look. */
  public Confirmed next(AuditReport look) {
    List<Finding> both =
        look.open().stream().filter(finding -> last.contains(subject(finding))).toList();
    List<Finding> fresh =
        both.stream().filter(finding -> !told.contains(subject(finding))).toList();
    last = subjects(look.open());
    told = subjects(both);
    return new Confirmed(new AuditReport(look.volumes(), look.devices(), both), fresh);
  }

  private static Set<Subject> subjects(List<Finding> findings) {
    return findings.stream().map(AuditTrail::subject).collect(Collectors.toSet());
  }

  private static Subject subject(Finding finding) {
    return new Subject(finding.kind(), finding.volume());
  }
}
