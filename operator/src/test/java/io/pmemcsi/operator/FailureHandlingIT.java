package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Failures caused by users, other controllers and the operator itself while a driver runs. */
@WithKubernetes
class FailureHandlingIT {

  private static final Duration LIMIT = Duration.ofMinutes(2);

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
  void objectWithAChangedImmutableFieldIsRecreated() {
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

  /** With all ownership labels, as if the operator had created it. */
  private void replace(HasMetadata object) {
    client.resource(object).delete();
    object.getMetadata().setResourceVersion(null);
    object.getMetadata().setUid(null);
    client.resource(object).create();
  }

  @Test
  void terminatingObjectWithAFinalizerIsReportedAndAwaited() {
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

    awaitHeld("Initializing");
    driver.self().delete();
    await()
        .atMost(LIMIT)
        .until(() -> driver.self().get().getMetadata().getDeletionTimestamp() != null);
    awaitHeld("Terminating");
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

    driver.awaitDeleted();
    assertThat(driver.objectNames()).isEmpty();
  }

  private void awaitHeld(String phase) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(driver.condition("DriverDeployed").map(DeploymentCondition::status))
                  .contains("False");
              assertThat(driver.status().reason())
                  .contains("ClusterRole \"%s".formatted(driver.prefix()))
                  .contains("finalizer");
              assertThat(driver.status().phase()).isEqualTo(phase);
            });
  }

  private static String name(Resource<ClusterRole> role) {
    return role.get().getMetadata().getName();
  }

  /** The operator backs off from a manager that reverts a field each time, and names it. */
  @Test
  void repeatedDriftIsBackedOffAndTheConflictingManagerIsNamed() {
    operator.start();
    driver.create("");
    driver.awaitPhase("Initializing");
    String path = "/daemonsets/" + driver.prefix() + "-node";
    long before = writesTo(path);
    long start = System.nanoTime();

    await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              if (image().equals(InstalledOperator.IMAGE)) {
                setImage("fight:1");
              }
              return driver.condition("Contested").isPresent();
            });

    var contested = driver.condition("Contested").orElseThrow();
    assertThat(contested.status()).isEqualTo("True");
    assertThat(contested.message())
        .contains("DaemonSet \"%s-node\"".formatted(driver.prefix()))
        .contains("changed again and again by \"gitops\"");
    assertThat(driver.condition("DriverDeployed").map(DeploymentCondition::status))
        .contains("False");
    assertThat(driver.status().reason()).contains("gitops");

    // changes of the resource are applied without back-off
    setImage("fight:2");
    driver.setSpec("logLevel: 5");
    await()
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(image()).isEqualTo(InstalledOperator.IMAGE));
    await().atMost(LIMIT).untilAsserted(() -> assertThat(driver.condition("Contested")).isEmpty());
    assertThat(driver.events()).containsOnlyOnce("Contested");
    double seconds = (System.nanoTime() - start) / 1e9;
    // five at once, one every ten seconds, and those for the change of the resource; up to two
    // calls each
    assertThat((double) writesTo(path) - before).isLessThanOrEqualTo(2 * (7 + seconds / 10));
  }

  /** The API does not record who deletes an object; the first deletions are repaired at once. */
  @Test
  void repeatedDeletionIsBackedOff() {
    operator.start();
    driver.create("");
    driver.awaitPhase("Initializing");
    String path = "/daemonsets";
    long before = writesTo(path);
    long start = System.nanoTime();

    await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              driver.daemonSet().delete();
              return driver.condition("Contested").isPresent();
            });

    assertThat(driver.condition("Contested").orElseThrow().message())
        .contains("DaemonSet \"%s-node\"".formatted(driver.prefix()))
        .contains("is deleted again and again");
    double seconds = (System.nanoTime() - start) / 1e9;
    assertThat((double) writesTo(path) - before).isLessThanOrEqualTo(5 + seconds / 10);

    driver.daemonSet().delete();
    driver.setSpec("logLevel: 5");
    await().atMost(LIMIT).until(() -> driver.daemonSet().get() != null);
    await().atMost(LIMIT).untilAsserted(() -> assertThat(driver.condition("Contested")).isEmpty());
  }

  private long writesTo(String path) {
    return operator.writes().stream().filter(write -> write.endsWith(path)).count();
  }

  private String image() {
    return driver
        .daemonSet()
        .get()
        .getSpec()
        .getTemplate()
        .getSpec()
        .getContainers()
        .getFirst()
        .getImage();
  }

  private void setImage(String image) {
    driver
        .daemonSet()
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.JSON)
                .withFieldManager("gitops")
                .build(),
            """
            [{"op": "replace", "path": "/spec/template/spec/containers/0/image",
              "value": "%s"}]
            """
                .formatted(image));
  }

  @ParameterizedTest
  @CsvSource({"apps,daemonsets", "'',pods"})
  void missingPermissionIsReportedForTheCurrentGeneration(String group, String resource) {
    try (var nodes =
        FakeNodes.create(driver.sandbox().cluster(), 1, Map.of("test/permission", "yes"))) {
      assertThat(nodes.names()).hasSize(1);
      operator.start();
      driver.create("nodeSelector: {test/permission: \"yes\"}");
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> assertThat(driver.status().reason()).contains("0 out of 1 driver pods"));

      revoke(group, resource);
      driver.setSpec("nodeSelector: {test/permission: \"yes\"}, logLevel: 5");

      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                assertThat(driver.status().phase()).isEqualTo("Failed");
                assertThat(driver.status().observedGeneration()).isEqualTo(2);
                assertThat(driver.status().reason()).contains("forbidden", resource);
              });

      InstalledOperator.install(driver.sandbox());

      driver.awaitPhase("Initializing");
    }
  }

  /** Returns when the authorizer has observed that. */
  private void revoke(String group, String resource) {
    client
        .rbac()
        .clusterRoles()
        .withName(OperatorInstallation.NAME)
        .edit(
            role -> {
              role.setRules(without(role.getRules(), group, resource));
              return role;
            });
    client
        .rbac()
        .roles()
        .inNamespace(driver.sandbox().namespace())
        .withName(OperatorInstallation.NAME)
        .edit(
            role -> {
              role.setRules(without(role.getRules(), group, resource));
              return role;
            });
    KubernetesClient account = driver.sandbox().clientAs(OperatorInstallation.NAME);
    await()
        .atMost(LIMIT)
        .until(
            () ->
                !account
                    .authorization()
                    .v1()
                    .selfSubjectAccessReview()
                    .create(
                        new SelfSubjectAccessReviewBuilder()
                            .withNewSpec()
                            .withNewResourceAttributes()
                            .withNamespace(driver.sandbox().namespace())
                            .withGroup(group)
                            .withResource(resource)
                            .withVerb("list")
                            .endResourceAttributes()
                            .endSpec()
                            .build())
                    .getStatus()
                    .getAllowed());
  }

  private static List<PolicyRule> without(List<PolicyRule> rules, String group, String resource) {
    for (PolicyRule rule : rules) {
      if (rule.getApiGroups().contains(group)) {
        rule.setResources(
            rule.getResources().stream().filter(one -> !one.equals(resource)).toList());
      }
    }
    return rules.stream().filter(rule -> !rule.getResources().isEmpty()).toList();
  }

  @Test
  void internalErrorOfTheOperatorIsReported() {
    var errorsLeft = new AtomicInteger();
    InstantSource clock =
        () -> {
          if (errorsLeft.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            throw new IllegalStateException("internal error");
          }
          return Instant.now();
        };
    operator.withClock(clock.withZone(ZoneOffset.UTC)).start();
    driver.create("");
    driver.awaitPhase("Initializing");

    errorsLeft.set(1);
    driver.setSpec("logLevel: 5");

    await().atMost(LIMIT).untilAsserted(() -> assertThat(driver.events()).contains("Failed"));
    // the error occurred only once
    driver.awaitPhase("Initializing");
  }
}
