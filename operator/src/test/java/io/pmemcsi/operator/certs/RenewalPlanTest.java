package io.pmemcsi.operator.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RenewalPlanTest {

  private static final Instant START = Instant.parse("2030-01-01T00:00:00Z");
  private static final List<String> NAMES = List.of("a.ns.svc", "b.ns.svc", "127.0.0.1");

  private final RenewalPlan plan = new RenewalPlan(NAMES, Duration.ofDays(30), Duration.ofDays(10));

  @Test
  void firstCertificatesAreValidForAllNames() {
    var decision = plan.decide(Map.of(), Map.of(), START);

    var check = CertificateCheck.of(TlsFiles.of("s", decision.serverSecret()), NAMES, START);
    assertThat(check.broken()).isEmpty();
    assertThat(check.missingNames()).isEmpty();
    assertThat(check.expires()).isEqualTo(START.plus(Duration.ofDays(30)));
    assertThat(decision.due()).isEqualTo(START.plus(Duration.ofDays(20)));
  }

  @Test
  void nothingChangesBeforeItIsDue() {
    var first = plan.decide(Map.of(), Map.of(), START);

    var later =
        plan.decide(first.authoritySecret(), first.serverSecret(), first.due().minusSeconds(1));

    assertThat(later).isEqualTo(first);
  }

  @Test
  void newNamesLeadToANewCertificateOfTheSameAuthority() {
    var first = plan.decide(Map.of(), Map.of(), START);
    var more = new ArrayList<>(NAMES);
    more.add("c.example.com");

    var second =
        new RenewalPlan(more, plan.validity(), plan.renewBefore())
            .decide(first.authoritySecret(), first.serverSecret(), START);

    assertThat(second.authoritySecret()).isEqualTo(first.authoritySecret());
    assertThat(second.serverSecret()).isNotEqualTo(first.serverSecret());
  }

  /** Each client may have the bundle of any earlier moment of the overlap. */
  @Test
  void everyServerIsTrustedByTheBundleBeforeAndTheBundleAfter() {
    var now = START;
    var before = plan.decide(Map.of(), Map.of(), now);
    int authorities = 1;
    for (int step = 0; step < 40; step++) {
      now = before.due();
      var after = plan.decide(before.authoritySecret(), before.serverSecret(), now);

      assertThat(after.due()).isAfter(now);
      var oldServer = TlsFiles.of("s", before.serverSecret());
      var newServer = TlsFiles.of("s", after.serverSecret());
      assertTrusted(newServer, oldServer.authority(), now);
      assertTrusted(oldServer, newServer.authority(), now);
      if (!Objects.equals(
          after.authoritySecret().get("ca.crt"), before.authoritySecret().get("ca.crt"))) {
        authorities++;
      }
      before = after;
    }
    assertThat(authorities).isGreaterThan(3);
  }

  @Test
  void lostAuthorityIsReplacedAndTheOldOneStaysTrusted() {
    var first = plan.decide(Map.of(), Map.of(), START);

    var second = plan.decide(Map.of(), first.serverSecret(), START.plusSeconds(60));

    assertTrusted(
        TlsFiles.of("s", first.serverSecret()),
        TlsFiles.of("s", second.serverSecret()).authority(),
        START.plusSeconds(60));
  }

  @Test
  void renewalMustBeShorterThanTheLife() {
    assertThatThrownBy(() -> new RenewalPlan(NAMES, Duration.ofDays(5), Duration.ofDays(5)))
        .hasMessageContaining("5 days before");
  }

  private static void assertTrusted(TlsFiles server, String bundle, Instant now) {
    var check =
        CertificateCheck.of(new TlsFiles(bundle, server.certificate(), server.key()), NAMES, now);
    assertThat(check.broken()).isEmpty();
  }
}
