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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
  void newNamesLeadToANewCertificateOfTheSameCA() {
    var first = plan.decide(Map.of(), Map.of(), START);
    var more = new ArrayList<>(NAMES);
    more.add("c.example.com");

    var second =
        new RenewalPlan(more, plan.validity(), plan.renewBefore())
            .decide(first.authoritySecret(), first.serverSecret(), START);

    assertThat(second.authoritySecret()).isEqualTo(first.authoritySecret());
    assertThat(second.serverSecret()).isNotEqualTo(first.serverSecret());
  }

  /** A client may have any earlier bundle of the overlap. */
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
  void lostCAIsReplacedAndTheOldOneStaysTrusted() {
    var first = plan.decide(Map.of(), Map.of(), START);

    var second = plan.decide(Map.of(), first.serverSecret(), START.plusSeconds(60));

    assertTrusted(
        TlsFiles.of("s", first.serverSecret()),
        TlsFiles.of("s", second.serverSecret()).authority(),
        START.plusSeconds(60));
  }

  /** A certificate never outlives its CA, so a new one would expire at the same time. */
  @Test
  void validityBeyondTheCAIssuesOnceAndThenNothing() {
    var brief = plan.decide(Map.of(), Map.of(), START);
    var longer = new RenewalPlan(NAMES, Duration.ofDays(365), Duration.ofDays(121));

    var first = longer.decide(brief.authoritySecret(), brief.serverSecret(), START);
    var second = longer.decide(first.authoritySecret(), first.serverSecret(), START);

    assertThat(second).isEqualTo(first);
    assertThat(first.expires()).isEqualTo(START.plus(Duration.ofDays(90)));
    assertThat(first.due()).isEqualTo(START.plus(Duration.ofDays(45)));
    assertThat(first.authoritySecret()).containsKey("next-ca.crt");

    var taken = longer.decide(first.authoritySecret(), first.serverSecret(), first.due());

    assertThat(taken.authoritySecret())
        .containsEntry(
            "ca.crt", Objects.requireNonNull(first.authoritySecret().get("next-ca.crt")));
    assertThat(taken.expires()).isEqualTo(first.due().plus(Duration.ofDays(365)));
    assertThat(taken.due()).isAfter(first.due());
    assertTrusted(
        TlsFiles.of("s", taken.serverSecret()),
        TlsFiles.of("s", first.serverSecret()).authority(),
        first.due());
  }

  /** The first CA is to be replaced from day 50 on, and expires on day 90. */
  @ParameterizedTest
  @ValueSource(ints = {51, 65, 79, 81, 89})
  void rotationAfterDowntimeCompletesBeforeTheCAExpires(int days) {
    var first = plan.decide(Map.of(), Map.of(), START);
    Instant now = START.plus(Duration.ofDays(days));

    var back = plan.decide(first.authoritySecret(), first.serverSecret(), now);

    assertThat(plan.decide(back.authoritySecret(), back.serverSecret(), now)).isEqualTo(back);
    assertThat(back.authoritySecret())
        .containsEntry("ca.crt", Objects.requireNonNull(first.authoritySecret().get("ca.crt")));
    assertThat(back.due()).isAfter(now).isBefore(START.plus(Duration.ofDays(90)));

    var taken = plan.decide(back.authoritySecret(), back.serverSecret(), back.due());

    assertThat(taken.due()).isAfter(back.due());
    assertTrusted(
        TlsFiles.of("s", taken.serverSecret()),
        TlsFiles.of("s", back.serverSecret()).authority(),
        back.due());
  }

  @Test
  void nextCAFollowsAnExpiredOne() {
    var first = plan.decide(Map.of(), Map.of(), START);
    var distributed =
        plan.decide(first.authoritySecret(), first.serverSecret(), START.plus(Duration.ofDays(89)));
    Instant late = START.plus(Duration.ofDays(91));

    var back = plan.decide(distributed.authoritySecret(), distributed.serverSecret(), late);

    assertThat(back.authoritySecret())
        .containsEntry(
            "ca.crt", Objects.requireNonNull(distributed.authoritySecret().get("next-ca.crt")));
    assertThat(back.due()).isAfter(late);
    assertTrusted(
        TlsFiles.of("s", back.serverSecret()),
        TlsFiles.of("s", distributed.serverSecret()).authority(),
        late);
  }

  @Test
  void everythingIsNewWhenTheNextCAExpiredToo() {
    var first = plan.decide(Map.of(), Map.of(), START);
    var distributed =
        plan.decide(first.authoritySecret(), first.serverSecret(), START.plus(Duration.ofDays(60)));
    assertThat(distributed.authoritySecret()).containsKey("next-ca.crt");
    Instant late = START.plus(Duration.ofDays(1000));

    var back = plan.decide(distributed.authoritySecret(), distributed.serverSecret(), late);

    assertThat(back.due()).isEqualTo(late.plus(Duration.ofDays(20)));
    assertTrusted(
        TlsFiles.of("s", back.serverSecret()),
        TlsFiles.of("s", back.serverSecret()).authority(),
        late);
  }

  /** After any change of a user a second decision changes nothing. */
  @Test
  void decisionAfterAChangeOfValidityIsStable() {
    var now = START;
    var before = plan.decide(Map.of(), Map.of(), now);
    for (int[] days : new int[][] {{365, 121}, {2, 1}, {3650, 3649}, {2, 1}, {30, 29}, {9, 3}}) {
      var changed = new RenewalPlan(NAMES, Duration.ofDays(days[0]), Duration.ofDays(days[1]));
      for (int step = 0; step < 5; step++) {
        var decision = changed.decide(before.authoritySecret(), before.serverSecret(), now);
        assertThat(changed.decide(decision.authoritySecret(), decision.serverSecret(), now))
            .isEqualTo(decision);
        assertThat(decision.due()).isAfter(now);
        before = decision;
        now = step == 4 ? now.plus(Duration.ofHours(1)) : decision.due();
      }
    }
  }

  /** The clock was set back to before the CA was issued. */
  @Test
  void decisionWithACAThatIsNotYetValidIsStable() {
    var first = plan.decide(Map.of(), Map.of(), START);
    var renewed = plan.decide(first.authoritySecret(), first.serverSecret(), first.due());
    Instant back = START.minus(Duration.ofDays(1));

    for (var stored : List.of(first, renewed)) {
      var early = plan.decide(stored.authoritySecret(), stored.serverSecret(), back);

      assertThat(early.authoritySecret()).isEqualTo(stored.authoritySecret());
      assertThat(early.serverSecret()).isEqualTo(stored.serverSecret());
      assertThat(early.begins()).contains(START.minus(Issuer.BACKDATED));
      assertThat(early.due()).isEqualTo(START.minus(Issuer.BACKDATED));
    }
    var without = plan.decide(first.authoritySecret(), Map.of(), back);
    assertThat(plan.decide(without.authoritySecret(), without.serverSecret(), back))
        .isEqualTo(without);

    var right = plan.decide(without.authoritySecret(), without.serverSecret(), without.due());

    assertThat(right.serverSecret()).isEqualTo(without.serverSecret());
    assertThat(right.begins()).isEmpty();
    assertThat(right.due()).isAfter(without.due());
  }

  @ParameterizedTest
  @ValueSource(strings = {"fd00::1", "FD00:0::0001", "::ffff:10.0.0.1", "Scheduler.Example.COM"})
  void anyNotationOfANameMatchesTheCertificate(String name) {
    var named =
        new RenewalPlan(List.of("a.ns.svc", name), Duration.ofDays(30), Duration.ofDays(10));
    var first = named.decide(Map.of(), Map.of(), START);

    assertThat(named.decide(first.authoritySecret(), first.serverSecret(), START)).isEqualTo(first);
    assertThat(
            CertificateCheck.of(TlsFiles.of("s", first.serverSecret()), List.of(name), START)
                .missingNames())
        .isEmpty();
  }

  @Test
  void renewBeforeMustBeShorterThanTheValidity() {
    assertThatThrownBy(() -> new RenewalPlan(NAMES, Duration.ofDays(5), Duration.ofDays(5)))
        .hasMessageContaining("5 days before");
  }

  private static void assertTrusted(TlsFiles server, String bundle, Instant now) {
    var check =
        CertificateCheck.of(new TlsFiles(bundle, server.certificate(), server.key()), NAMES, now);
    assertThat(check.broken()).isEmpty();
  }
}
