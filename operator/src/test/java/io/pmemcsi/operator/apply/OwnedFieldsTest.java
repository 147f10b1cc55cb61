package io.pmemcsi.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import org.junit.jupiter.api.Test;

/** The objects are as an API server of version 1.20 returns them. */
class OwnedFieldsTest {

  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private final OwnedFields ours = new OwnedFields("me", serialization);

  private static final String WANTED =
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
  void defaultsAndTheValuesOfOthersAreNoDifference() {
    assertThat(match(ACTUAL, WANTED)).isTrue();
  }

  @Test
  void objectThatWeNeverAppliedDiffers() {
    assertThat(match(ACTUAL.replace("manager: me", "manager: you"), WANTED)).isFalse();
  }

  /** An object that was created by a POST, and that the server had nothing to add to. */
  @Test
  void whatWeCreatedIsOursAsIfApplied() {
    String created = ROLE.replace("operation: Apply", "operation: Update");

    assertThat(match(created, WANTED_ROLE)).isTrue();
    assertThat(match(created, WANTED_ROLE.replace("[x]", "[y]"))).isFalse();
    // here the server filled in a value, which the record cannot tell from one of ours
    assertThat(
            match(
                ACTUAL
                    .replace("operation: Apply", "operation: Update")
                    .replace("f:args: {}", "f:args: {}\n                f:imagePullPolicy: {}"),
                WANTED))
        .isFalse();
  }

  @Test
  void changedValueDiffers() {
    assertThat(match(ACTUAL.replace("args: [-a, -b]", "args: [-b, -a]"), WANTED)).isFalse();
    assertThat(match(ACTUAL.replace("cpu: 500m", "cpu: 501m"), WANTED)).isFalse();
    assertThat(match(ACTUAL.replace("app: x,", "app: y,"), WANTED)).isFalse();
  }

  /** As servers from 1.21 on record them. */
  @Test
  void selectorThatIsOwnedAsAWholeDiffersByALabelLess() {
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
    String wanted =
        """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: a, namespace: b}
        spec: {template: {spec: {nodeSelector: {storage: pmem, zone: one}}}}
        """;

    assertThat(match(actual, wanted)).isTrue();
    assertThat(match(actual, wanted.replace(", zone: one", ""))).isFalse();
  }

  @Test
  void valueThatIsNoLongerWantedDiffers() {
    assertThat(match(ACTUAL, WANTED.replace("args: [-a, -b]", ""))).isFalse();
    assertThat(match(ACTUAL, WANTED.replace("resources: {requests: {cpu: \"0.5\"}}", "")))
        .isFalse();
  }

  @Test
  void additionalWishDiffers() {
    assertThat(match(ACTUAL, WANTED.replace("app: x", "app: x, more: z"))).isFalse();
    assertThat(match(ACTUAL, WANTED.replace("- name: one", "- name: two\n      - name: one")))
        .isFalse();
  }

  @Test
  void setsHaveNoOrderAndListsOwnedAsAWholeMayHoldDefaults() {
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
    String wanted =
        """
        apiVersion: storage.k8s.io/v1
        kind: CSIDriver
        metadata: {name: d}
        spec:
          volumeLifecycleModes: [Persistent, Ephemeral]
          tokenRequests: [{audience: x}]
        """;

    assertThat(match(driver, wanted)).isTrue();
    assertThat(match(driver, wanted.replace(", Ephemeral", ""))).isFalse();
    assertThat(match(driver, wanted.replace("audience: x", "audience: y"))).isFalse();
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

  private static final String WANTED_ROLE =
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: Role
      metadata: {name: a, namespace: b}
      rules: [{apiGroups: [""], resources: [pods], resourceNames: [x], verbs: [get]}]
      """;

  @Test
  void lessInAListThatIsOwnedAsAWholeDiffers() {
    assertThat(match(ROLE, WANTED_ROLE)).isTrue();
    assertThat(match(ROLE, WANTED_ROLE.replace(" resourceNames: [x],", ""))).isFalse();
    assertThat(match(ROLE, WANTED_ROLE.replace("[x]", "[\"\"]"))).isFalse();
    assertThat(match(ROLE, WANTED_ROLE.replace("[pods]", "[]"))).isFalse();
  }

  @Test
  void valueThatBecameEmptyDiffers() {
    assertThat(match(ACTUAL, WANTED.replace("args: [-a, -b]", "args: [-a, \"\"]"))).isFalse();
    assertThat(match(ACTUAL, WANTED.replace("args: [-a, -b]", "args: []"))).isFalse();
  }

  @Test
  void defaultsInListsThatAreOwnedAsAWholeAreNoDifference() {
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
    String wanted =
        """
        apiVersion: admissionregistration.k8s.io/v1
        kind: MutatingWebhookConfiguration
        metadata: {name: a}
        webhooks:
        - name: w
          rules: [{operations: [CREATE], apiGroups: [""], resources: [pods]}]
        """;

    assertThat(match(hook, wanted)).isTrue();
    assertThat(match(hook.replace("scope: \"*\"", "scope: Cluster"), wanted)).isFalse();
  }

  private boolean match(String actual, String wanted) {
    return ours.match(
        serialization.<HasMetadata>unmarshal(actual), serialization.<HasMetadata>unmarshal(wanted));
  }
}
