package io.pmemcsi.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The messages of API servers differ between releases; what they reject does not. */
@WithKubernetes
class ServerRejectionIT {

  private static final String DAEMON_SET =
      """
      apiVersion: apps/v1
      kind: DaemonSet
      metadata: {name: rejected}
      spec:
        selector: {matchLabels: {app: %1$s}}
        template:
          metadata: {labels: {app: %1$s}}
          spec: {containers: [{name: %2$s, image: any}]}
      """;

  private static final String ROLE_BINDING =
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: RoleBinding
      metadata: {name: rejected}
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}
      subjects: [{kind: %s, name: someone, namespace: default}]
      """;

  @ParameterizedTest
  @CsvSource({
    // selector
    "b, driver, true",
    // an invalid name of a container
    "a, Not_A_Name, false",
    // both: it could be deleted, but not created again
    "b, Not_A_Name, false"
  })
  void changedSelectorIsImmutableUnlessTheObjectIsInvalid(
      String app, String container, boolean immutable, Sandbox sandbox) {
    sandbox.create(read(DAEMON_SET.formatted("a", "driver"), sandbox));

    assertThat(rejection(read(DAEMON_SET.formatted(app, container), sandbox), sandbox.client()))
        .isInstanceOf(immutable ? ImmutableFieldException.class : RefusedObjectException.class);
  }

  @Test
  void changedRoleIsImmutable(Sandbox sandbox) {
    sandbox.create(read(ROLE_BINDING.formatted("view", "ServiceAccount"), sandbox));

    assertThat(
            rejection(
                read(ROLE_BINDING.formatted("edit", "ServiceAccount"), sandbox), sandbox.client()))
        .isInstanceOf(ImmutableFieldException.class);
    assertThat(
            rejection(read(ROLE_BINDING.formatted("edit", "Nothing"), sandbox), sandbox.client()))
        .isInstanceOf(RefusedObjectException.class);
  }

  /** Its version may be older than the field. */
  @Test
  void fieldThatTheServerDoesNotHaveIsRefused(Sandbox sandbox) {
    String yaml =
        DAEMON_SET
            .formatted("a", "driver")
            .replace("spec: {containers", "spec: {newer: 1, containers");

    assertThat(rejection(read(yaml, sandbox), sandbox.client()))
        .isInstanceOf(RefusedObjectException.class)
        .hasMessageContaining(".spec.template.spec.newer: field not declared in schema");
  }

  private static HasMetadata read(String yaml, Sandbox sandbox) {
    HasMetadata object = sandbox.client().getKubernetesSerialization().unmarshal(yaml);
    object.getMetadata().setNamespace(sandbox.namespace());
    return object;
  }

  private static RuntimeException rejection(HasMetadata desired, KubernetesClient client) {
    KubernetesClientException failure =
        catchThrowableOfType(
            KubernetesClientException.class, () -> DryRun.apply(desired, "test", client));
    return new ServerRejection(client).classify(failure, desired);
  }
}
