package io.pmemcsi.driver.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.device.VolumeId;
import java.util.List;
import org.junit.jupiter.api.Test;

class AuditTrailTest {

  private static final Finding STRAY =
      new Finding(Kind.DEVICE_WITHOUT_RECORD, VolumeId.fromName("a"), "stray", false);
  private static final Finding HALF =
      new Finding(Kind.UNFINISHED_CREATE, VolumeId.fromName("b"), "half", false);

  private static AuditReport report(Finding... findings) {
    return new AuditReport(1, 1, List.of(findings));
  }

  @Test
  void findingsOfTheStartCountUntilTheyAreResolved() {
    AuditTrail trail = new AuditTrail(report(STRAY));

    AuditTrail.Confirmed still = trail.next(report(STRAY));
    assertThat(still.report().findings()).containsExactly(STRAY);
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
    assertThat(report(STRAY, HALF).without(HALF.volume()::equals).findings())
        .containsExactly(STRAY);
  }

  @Test
  void aPersistingFindingIsReportedOnce() {
    AuditTrail trail = new AuditTrail(report());
    trail.next(report(STRAY));

    assertThat(trail.next(report(STRAY)).added()).containsExactly(STRAY);
    assertThat(trail.next(report(STRAY)).added()).isEmpty();
  }
}
