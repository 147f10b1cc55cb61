package io.pmemcsi.operator.apply.ssa;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import org.junit.jupiter.api.Test;

/** The objects are as an API server of version 1.20 returns them. */
class OwnedFieldsTest {

  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private final OwnedFields fields = new OwnedFields("me", serialization);

  private static final String DESIRED =
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: a, namespace: b, labels: {app: x}}
      spec:
        template:
          spec:
            containers:
            - name: one
              args: [-a, -b]
              resources: {requests: {cpu: "0.5"}}
            volumes:
            - {name: tmp, emptyDir: {}}
      """;

  private static final String ACTUAL =
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: a
        namespace: b
        uid: "1"
        labels: {app: x, theirs: "yes"}
        managedFields:
        - manager: me
          operation: Apply
          fieldsV1:
            f:metadata: {f:labels: {f:app: {}}}
            f:spec:
              f:template:
                f:spec:
                  f:containers:
                    k:{"name":"one"}:
                      .: {}
                      f:name: {}
                      f:args: {}
                      f:resources: {f:requests: {f:cpu: {}}}
                  f:volumes:
                    k:{"name":"tmp"}: {.: {}, f:name: {}}
        - manager: autoscaler
          operation: Update
          fieldsV1: {f:spec: {f:replicas: {}}}
      spec:
        replicas: 7
        template:
          spec:
            restartPolicy: Always
            containers:
            - name: injected
            - name: one
              args: [-a, -b]
              imagePullPolicy: Always
              resources: {requests: {cpu: 500m}}
            volumes:
            - {name: tmp, emptyDir: {}}
      """;

  @Test
  void defaultsAndFieldsOfOtherManagersAreNoDifference() {
    assertThat(match(ACTUAL, DESIRED)).isTrue();
  }

  @Test
  void objectThatTheManagerNeverAppliedDiffers() {
    assertThat(match(ACTUAL.replace("manager: me", "manager: you"), DESIRED)).isFalse();
  }

  /** An object that was created by POST and got no defaults. */
  @Test
  void createdObjectCountsAsApplied() {
    String created = ROLE.replace("operation: Apply", "operation: Update");

    assertThat(match(created, DESIRED_ROLE)).isTrue();
    assertThat(match(created, DESIRED_ROLE.replace("[x]", "[y]"))).isFalse();
    // managedFields does not distinguish the default that the server set here
    assertThat(
            match(
                ACTUAL
                    .replace("operation: Apply", "operation: Update")
                    .replace("f:args: {}", "f:args: {}\n                f:imagePullPolicy: {}"),
                DESIRED))
        .isFalse();
  }

  @Test
  void changedValueDiffers() {
    assertThat(match(ACTUAL.replace("args: [-a, -b]", "args: [-b, -a]"), DESIRED)).isFalse();
    assertThat(match(ACTUAL.replace("cpu: 500m", "cpu: 501m"), DESIRED)).isFalse();
    assertThat(match(ACTUAL.replace("app: x,", "app: y,"), DESIRED)).isFalse();
  }

  /** As servers from 1.21 on track selectors. */
  @Test
  void atomicSelectorWithOneLabelLessDiffers() {
    String actual =
        """
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: a
          namespace: b
          managedFields:
          - manager: me
            operation: Apply
            fieldsV1: {f:spec: {f:template: {f:spec: {f:nodeSelector: {}}}}}
        spec: {template: {spec: {nodeSelector: {storage: pmem, zone: one}}}}
        """;
    String desired =
        """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: a, namespace: b}
        spec: {template: {spec: {nodeSelector: {storage: pmem, zone: one}}}}
        """;

    assertThat(match(actual, desired)).isTrue();
    assertThat(match(actual, desired.replace(", zone: one", ""))).isFalse();
  }

  @Test
  void valueThatIsNoLongerDesiredDiffers() {
    assertThat(match(ACTUAL, DESIRED.replace("args: [-a, -b]", ""))).isFalse();
    assertThat(match(ACTUAL, DESIRED.replace("resources: {requests: {cpu: \"0.5\"}}", "")))
        .isFalse();
  }

  @Test
  void additionalDesiredValueDiffers() {
    assertThat(match(ACTUAL, DESIRED.replace("app: x", "app: x, more: z"))).isFalse();
    assertThat(match(ACTUAL, DESIRED.replace("- name: one", "- name: two\n      - name: one")))
        .isFalse();
  }

  @Test
  void setsAreUnorderedAndAtomicListsMayHaveDefaults() {
    String driver =
        """
        apiVersion: storage.k8s.io/v1
        kind: CSIDriver
        metadata:
          name: d
          managedFields:
          - manager: me
            operation: Apply
            fieldsV1:
              f:spec:
                f:volumeLifecycleModes: {'v:"Ephemeral"': {}, 'v:"Persistent"': {}}
                f:tokenRequests: {}
        spec:
          volumeLifecycleModes: [Persistent, Ephemeral]
          tokenRequests: [{audience: x, expirationSeconds: 3600}]
        """;
    String desired =
        """
        apiVersion: storage.k8s.io/v1
        kind: CSIDriver
        metadata: {name: d}
        spec:
          volumeLifecycleModes: [Persistent, Ephemeral]
          tokenRequests: [{audience: x}]
        """;

    assertThat(match(driver, desired)).isTrue();
    assertThat(match(driver, desired.replace(", Ephemeral", ""))).isFalse();
    assertThat(match(driver, desired.replace("audience: x", "audience: y"))).isFalse();
  }

  private static final String ROLE =
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: Role
      metadata:
        name: a
        namespace: b
        managedFields:
        - {manager: me, operation: Apply, fieldsV1: {f:rules: {}}}
      rules: [{apiGroups: [""], resources: [pods], resourceNames: [x], verbs: [get]}]
      """;

  private static final String DESIRED_ROLE =
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: Role
      metadata: {name: a, namespace: b}
      rules: [{apiGroups: [""], resources: [pods], resourceNames: [x], verbs: [get]}]
      """;

  @Test
  void atomicListWithFewerValuesDiffers() {
    assertThat(match(ROLE, DESIRED_ROLE)).isTrue();
    assertThat(match(ROLE, DESIRED_ROLE.replace(" resourceNames: [x],", ""))).isFalse();
    assertThat(match(ROLE, DESIRED_ROLE.replace("[x]", "[\"\"]"))).isFalse();
    assertThat(match(ROLE, DESIRED_ROLE.replace("[pods]", "[]"))).isFalse();
  }

  @Test
  void valueThatBecameEmptyDiffers() {
    assertThat(match(ACTUAL, DESIRED.replace("args: [-a, -b]", "args: [-a, \"\"]"))).isFalse();
    assertThat(match(ACTUAL, DESIRED.replace("args: [-a, -b]", "args: []"))).isFalse();
  }

  @Test
  void defaultsInAtomicListsAreNoDifference() {
    String hook =
        """
        apiVersion: admissionregistration.k8s.io/v1
        kind: MutatingWebhookConfiguration
        metadata:
          name: a
          managedFields:
          - manager: me
            operation: Apply
            fieldsV1: {f:webhooks: {'k:{"name":"w"}': {.: {}, f:name: {}, f:rules: {}}}}
        webhooks:
        - name: w
          matchPolicy: Equivalent
          rules: [{operations: [CREATE], apiGroups: [""], resources: [pods], scope: "*"}]
        """;
    String desired =
        """
        apiVersion: admissionregistration.k8s.io/v1
        kind: MutatingWebhookConfiguration
        metadata: {name: a}
        webhooks:
        - name: w
          rules: [{operations: [CREATE], apiGroups: [""], resources: [pods]}]
        """;

    assertThat(match(hook, desired)).isTrue();
    assertThat(match(hook.replace("scope: \"*\"", "scope: Cluster"), desired)).isFalse();
  }

  private boolean match(String actual, String desired) {
    return fields.match(
        serialization.<HasMetadata>unmarshal(actual),
        serialization.<HasMetadata>unmarshal(desired));
  }
}
