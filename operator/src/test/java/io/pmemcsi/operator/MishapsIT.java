package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What others, and we ourselves, may do wrong while a driver is there. */
@WithKubernetes(controllers = false)
class MishapsIT {

  private static final Duration LIMIT = Duration.ofSeconds(30);

  private KubernetesClient client;
  private InstalledOperator operator;
  private TestDriver driver;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.client = sandbox.client();
    this.operator = InstalledOperator.install(sandbox);
    this.driver = new TestDriver(sandbox, "mishap.example.com");
  }

  @Test
  void objectThatCannotBeChangedIsMadeAnew() {
    operator.start();
    driver.create("");
    driver.awaitPhase("Initializing");
    operator.stop();
    CSIDriver wrongDriver = client.storage().v1().csiDrivers().withName(driver.name()).get();
    wrongDriver.getSpec().setAttachRequired(true);
    replace(wrongDriver);
    RoleBinding wrongBinding =
        client
            .rbac()
            .roleBindings()
            .inNamespace(driver.sandbox().namespace())
            .withName(driver.prefix() + "-csi-provisioner-role-cfg")
            .get();
    wrongBinding.getRoleRef().setName("another");
    replace(wrongBinding);

    operator.start();

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(client.resource(wrongDriver).get())
                  .isNotNull()
                  .matches(found -> !found.getSpec().getAttachRequired());
              assertThat(client.resource(wrongBinding).get())
                  .isNotNull()
                  .extracting(found -> found.getRoleRef().getName())
                  .isEqualTo(driver.prefix() + "-external-provisioner-cfg");
            });
  }

  /** With all marks, as if the operator itself had made it so. */
  private void replace(HasMetadata object) {
    client.resource(object).delete();
    object.getMetadata().setResourceVersion(null);
    object.getMetadata().setUid(null);
    client.resource(object).create();
  }

  @Test
  void objectThatSomebodyHoldsIsToldAndWaitedFor() {
    operator.start();
    driver.create("");
    driver.awaitPhase("Initializing");
    Resource<ClusterRole> held =
        client.rbac().clusterRoles().withName(driver.prefix() + "-external-provisioner-runner");
    Edits.edit(
        held,
        role -> {
          role.getMetadata().setFinalizers(List.of("example.com/hold"));
          return role;
        });

    held.delete();

    awaitHeld();
    driver.self().delete();
    await()
        .atMost(LIMIT)
        .until(() -> driver.self().get().getMetadata().getDeletionTimestamp() != null);
    awaitHeld();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(driver.objectNames()).containsExactly("ClusterRole " + name(held)));

    Edits.edit(
        held,
        role -> {
          role.getMetadata().setFinalizers(List.of());
          return role;
        });

    driver.awaitGone();
    assertThat(driver.objectNames()).isEmpty();
  }

  private void awaitHeld() {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(driver.condition("DriverDeployed").map(DeploymentCondition::status))
                  .contains("False");
              assertThat(driver.status().reason())
                  .contains("ClusterRole \"%s".formatted(driver.prefix()))
                  .contains("finalizer");
              assertThat(driver.status().phase()).isEqualTo("Initializing");
            });
  }

  private static String name(Resource<ClusterRole> role) {
    return role.get().getMetadata().getName();
  }

  /** Somebody who sets a value back each time is answered, but not without end. */
  @Test
  void fightOverAValueIsFoughtWithModeration() {
    operator.start();
    driver.create("");
    driver.awaitPhase("Initializing");
    String path = "/daemonsets/" + driver.prefix() + "-node";
    long before = operator.writes().stream().filter(write -> write.endsWith(path)).count();
    long start = System.nanoTime();

    for (int i = 0; i < 40; i++) {
      driver
          .daemonSet()
          .patch(
              PatchContext.of(PatchType.JSON),
              """
              [{"op": "replace", "path": "/spec/template/spec/containers/0/image",
                "value": "fight:%d"}]
              """
                  .formatted(i));
    }

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        driver
                            .daemonSet()
                            .get()
                            .getSpec()
                            .getTemplate()
                            .getSpec()
                            .getContainers()
                            .getFirst()
                            .getImage())
                    .isEqualTo(InstalledOperator.IMAGE));
    double seconds = (System.nanoTime() - start) / 1e9;
    long writes = operator.writes().stream().filter(write -> write.endsWith(path)).count() - before;
    // ten looks a second and two writes a look, whatever the number of edits; slower is fine
    assertThat((double) writes).isLessThanOrEqualTo(20 * (seconds + 2));
  }

  @Test
  void mistakeOfTheOperatorItselfIsTold() {
    var mistakes = new AtomicInteger();
    operator.withClock(new FailingClock(mistakes)).start();
    driver.create("");
    driver.awaitPhase("Initializing");

    mistakes.set(1);
    driver.edit(resource -> resource.setSpec(driver.resource("logLevel: 5").getSpec()));

    await().atMost(LIMIT).untilAsserted(() -> assertThat(driver.events()).contains("Failed"));
    // and it was only one
    driver.awaitPhase("Initializing");
  }

  /** Throws as often as it is told to. */
  private static final class FailingClock extends Clock {
    private final AtomicInteger mistakes;

    FailingClock(AtomicInteger mistakes) {
      this.mistakes = mistakes;
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      throw new UnsupportedOperationException("only the instant counts");
    }

    @Override
    public Instant instant() {
      if (mistakes.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        throw new IllegalStateException("a mistake");
      }
      return Clock.systemUTC().instant();
    }
  }
}
