package io.pmemcsi.driver.audit;

import io.pmemcsi.driver.audit.AuditReport.Finding;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The findings of consecutive audits while calls come and go.
 *
 * <p>An audit sees whatever a call has half done at that moment, so a finding counts only when two
 * audits in a row report it. What the next one does not report is resolved.
 */
public final class AuditTrail {
  private record Subject(AuditReport.Kind kind, String name) {}

  private Set<Subject> last;
  private Set<Subject> reported;

  /** Begins with what was found before the first call, which counts as it is. */
  public AuditTrail(AuditReport start) {
    last = subjects(start.open());
    reported = last;
  }

  /**
   * What counts now.
   *
   * @param report all confirmed findings
   * @param added those that the last report did not have
   */
  public record Confirmed(AuditReport report, List<Finding> added) {
    public Confirmed {
      added = List.copyOf(added);
    }
  }

  /** Takes the report of the next audit. */
  public Confirmed next(AuditReport report) {
    List<Finding> confirmed =
        report.open().stream().filter(finding -> last.contains(subject(finding))).toList();
    List<Finding> added =
        confirmed.stream().filter(finding -> !reported.contains(subject(finding))).toList();
    last = subjects(report.open());
    reported = subjects(confirmed);
    return new Confirmed(new AuditReport(report.volumes(), report.devices(), confirmed), added);
  }

  private static Set<Subject> subjects(List<Finding> findings) {
    return findings.stream().map(AuditTrail::subject).collect(Collectors.toSet());
  }

  private static Subject subject(Finding finding) {
    return new Subject(finding.kind(), finding.subject());
  }
}
