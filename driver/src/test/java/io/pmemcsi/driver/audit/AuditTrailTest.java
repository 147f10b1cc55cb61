package io.pmemcsi.driver.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.device.VolumeId;
import java.util.List;
import org.junit.jupiter.api.Test;

class AuditTrailTest {

  private static final Finding UNKNOWN =
      new Finding(Kind.DEVICE_WITHOUT_RECORD, VolumeId.fromName("a"), "unknown", false);
  private static final Finding HALF =
      new Finding(Kind.UNFINISHED_CREATE, VolumeId.fromName("b"), "half", false);

  private static AuditReport report(Finding... findings) {
    return new AuditReport(1, 1, List.of(findings));
  }

  @Test
  void findingsOfTheStartCountUntilTheyAreResolved() {
    AuditTrail trail = new AuditTrail(report(UNKNOWN));

    AuditTrail.Confirmed still = trail.next(report(UNKNOWN));
    assertThat(still.report().findings()).containsExactly(UNKNOWN);
    assertThat(still.added()).isEmpty();
    assertThat(trail.next(report()).report().findings()).isEmpty();
  }

  @Test
  void incompleteStateOfAnInFlightCallDoesNotCount() {
    AuditTrail trail = new AuditTrail(report());

    assertThat(trail.next(report(HALF)).report().findings()).isEmpty();
    assertThat(trail.next(report()).report().findings()).isEmpty();
  }

  /** Erasing a large volume takes longer than two audits. */
  @Test
  void aVolumeWithAnInFlightCallIsSkipped() {
    assertThat(report(UNKNOWN, HALF).without(id -> id.value().equals(HALF.subject())).findings())
        .containsExactly(UNKNOWN);
  }

  @Test
  void aPersistingFindingIsReportedOnce() {
    AuditTrail trail = new AuditTrail(report());
    trail.next(report(UNKNOWN));

    assertThat(trail.next(report(UNKNOWN)).added()).containsExactly(UNKNOWN);
    assertThat(trail.next(report(UNKNOWN)).added()).isEmpty();
  }
}
