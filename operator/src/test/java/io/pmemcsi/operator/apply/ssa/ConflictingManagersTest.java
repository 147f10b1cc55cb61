package io.pmemcsi.operator.apply.ssa;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The objects are as an API server returns them after another manager changed a value. */
class ConflictingManagersTest {

  private static final String DESIRED =
      """
      apiVersion: apps/v1
      kind: DaemonSet
      metadata: {name: a, namespace: b, labels: {app: x}}
      spec:
        template:
          spec:
            nodeSelector: {storage: pmem}
            containers:
            - {name: one, image: "desired:1", args: [-a]}
      """;

  private final KubernetesSerialization serialization = new KubernetesSerialization();

  @Test
  void ownerOfADesiredFieldWithAnotherValueConflicts() {
    assertThat(
            managers(
                """
                - manager: gitops
                  operation: Update
                  time: "2030-01-01T00:00:00Z"
                  fieldsV1:
                    f:spec: {f:template: {f:spec: {f:containers: {'k:{"name":"one"}': {f:image: {}}}}}}
                """,
                "other:1",
                "storage: pmem"))
        .containsExactly("gitops");
  }

  @Test
  void ownerOfTheSameValueOrAnotherFieldDoesNotConflict() {
    assertThat(
            managers(
                """
                - manager: gitops
                  operation: Apply
                  time: "2030-01-01T00:00:00Z"
                  fieldsV1:
                    f:spec: {f:template: {f:spec: {f:containers: {'k:{"name":"one"}': {f:image: {}}}}}}
                - manager: labeller
                  operation: Update
                  time: "2030-01-02T00:00:00Z"
                  fieldsV1: {f:metadata: {f:labels: {f:theirs: {}, f:app: {}}}}
                - manager: policy
                  operation: Update
                  time: "2030-01-01T00:00:00Z"
                  fieldsV1:
                    f:spec: {f:template: {f:spec: {f:containers: {'k:{"name":"one"}': {f:args: {}}}}}}
                """,
                "desired:1",
                "storage: pmem"))
        .containsExactly("policy");
  }

  @Test
  void managerThatAddsToASelectorConflicts() {
    assertThat(
            managers(
                """
                - manager: kubectl-edit
                  operation: Update
                  time: "2030-01-01T00:00:00Z"
                  fieldsV1: {f:spec: {f:template: {f:spec: {f:nodeSelector: {f:zone: {}}}}}}
                """,
                "desired:1",
                "storage: pmem, zone: a"))
        .containsExactly("kubectl-edit");
  }

  @Test
  void lastWriterIsNamedWhereAValueWasRemoved() {
    assertThat(
            managers(
                """
                - manager: early
                  operation: Update
                  time: "2030-01-01T00:00:00Z"
                  fieldsV1: {f:metadata: {f:annotations: {f:a: {}}}}
                - manager: late
                  operation: Update
                  time: "2030-01-02T00:00:00Z"
                  fieldsV1: {f:metadata: {f:annotations: {f:b: {}}}}
                - manager: kube-controller-manager
                  operation: Update
                  time: "2030-01-03T00:00:00Z"
                  fieldsV1: {f:status: {f:numberReady: {}}}
                """,
                "desired:1",
                "storage: pmem"))
        .containsExactly("late");
  }

  /** Times have a resolution of one second. */
  @Test
  void allWritersOfTheLastSecondAreNamedWhereAValueWasRemoved() {
    assertThat(
            managers(
                """
                - manager: one
                  operation: Update
                  time: "2030-01-02T00:00:00Z"
                  fieldsV1: {f:metadata: {f:annotations: {f:a: {}}}}
                - manager: other
                  operation: Update
                  time: "2030-01-02T00:00:00Z"
                  fieldsV1: {f:metadata: {f:annotations: {f:b: {}}}}
                """,
                "desired:1",
                "storage: pmem"))
        .containsExactly("one", "other");
  }

  /** The entries of a real Deployment, shortened: its controller writes the revision last. */
  @Test
  void managersOfForeignFieldsConflictAndTheWorkloadControllerDoesNot() {
    String status =
        """
          - manager: kube-controller-manager
            operation: Update
            apiVersion: apps/v1
            time: "2030-01-05T00:00:00Z"
            fieldsType: FieldsV1
            fieldsV1:
              f:metadata: {f:annotations: {".": {}, "f:deployment.kubernetes.io/revision": {}}}
              f:status: {f:observedGeneration: {}, f:replicas: {}}
        """;
    for (String subresource : List.of("", "    subresource: status\n")) {
      assertThat(
              deploymentManagers(
                  """
                    - manager: autopilot
                      operation: Update
                      time: "2030-01-02T00:00:00Z"
                      fieldsV1:
                        f:spec: {f:template: {f:spec: {f:containers: {'k:{"name":"one"}':
                          {f:ports: {'k:{"containerPort":53,"protocol":"TCP"}':
                            {f:hostPort: {}}}}}}}}
                    - manager: kubectl-edit
                      operation: Update
                      time: "2030-01-01T00:00:00Z"
                      fieldsV1:
                        f:spec: {f:paused: {}, f:template: {f:spec: {f:tolerations: {}}}}
                    - manager: labeller
                      operation: Update
                      time: "2030-01-03T00:00:00Z"
                      fieldsV1: {f:metadata: {f:labels: {f:theirs: {}}}}
                  """
                      + status
                      + subresource))
          .containsExactly("autopilot", "kubectl-edit");
    }
  }

  private List<String> deploymentManagers(String managers) {
    String ports = "ports: [{containerPort: 53, protocol: UDP, hostPort: 53}, %s]";
    String desired =
        """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: a, namespace: b}
        spec:
          template: {spec: {containers: [{name: one, image: "desired:1", %s}]}}
        """
            .formatted(ports.formatted("{containerPort: 53, protocol: TCP}"));
    String actual =
        """
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: a
          namespace: b
          labels: {theirs: y}
          annotations: {deployment.kubernetes.io/revision: "2"}
          managedFields:
        %sspec:
          paused: true
          template:
            spec:
              tolerations: [{operator: Exists}]
              containers: [{name: one, image: "desired:1", %s}]
        """
            .formatted(
                managers, ports.formatted("{containerPort: 53, protocol: TCP, hostPort: 53}"));
    return new ConflictingManagers("me", serialization).of(read(actual), read(desired));
  }

  @Test
  void objectOfOneManagerHasNoConflict() {
    assertThat(managers("", "other:1", "storage: pmem")).isEmpty();
  }

  /** The arguments always differ from the desired ones. */
  private List<String> managers(String managers, String image, String nodeSelector) {
    String actual =
        """
        apiVersion: apps/v1
        kind: DaemonSet
        metadata:
          name: a
          namespace: b
          labels: {app: x, theirs: y}
          managedFields:
          - manager: me
            operation: Apply
            time: "2030-01-04T00:00:00Z"
            fieldsV1: {f:metadata: {f:labels: {f:app: {}}}}
        %sspec:
          template:
            spec:
              nodeSelector: {%s}
              containers:
              - {name: one, image: "%s", args: [-b]}
        """
            .formatted(managers.indent(2), nodeSelector, image);
    return new ConflictingManagers("me", serialization).of(read(actual), read(DESIRED));
  }

  private HasMetadata read(String yaml) {
    return serialization.unmarshal(yaml);
  }
}
