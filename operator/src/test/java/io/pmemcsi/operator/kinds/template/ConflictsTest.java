package io.pmemcsi.operator.kinds.template;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConflictsTest {

  private static final KubernetesSerialization YAML = new KubernetesSerialization();
  private static final Conflicts CONFLICTS = new Conflicts(OperatorConfig.DEFAULT, NameOwners.NONE);

  @Test
  void oneDriverNameIsReportedByTheYoungerNamingTheOlder() {
    var older = resource("older", 1, "driverName: a.example.com");
    var younger = resource("younger", 2, "driverName: a.example.com");

    assertThat(conflicts(younger, older))
        .containsExactly(
            "CSIDriverDeployment \"older\" in namespace \"ns\", which is older, has the driver name"
                + " \"a.example.com\" already: change or delete one of the two");
    assertThat(conflicts(older, younger)).isEmpty();
    assertThat(CONFLICTS.conflictingPeers(older, List.of(younger))).containsExactly(younger);
  }

  @Test
  void ofTheSameAgeTheNameDecides() {
    var first = resource("a", 1, "driverName: a.example.com");
    var second = resource("b", 1, "driverName: a.example.com");

    assertThat(conflicts(first, second)).isEmpty();
    assertThat(conflicts(second, first)).hasSize(1);
  }

  @Test
  void oneStorageClassIsAConflict() {
    var older =
        resource("older", 1, "driverName: a\n  storageClassTemplates: [{metadata: {name: fast}}]");
    var younger =
        resource(
            "younger",
            2,
            "driverName: b\n  storageClassTemplates: [{metadata: {name: slow}}, {metadata: {name:"
                + " fast}}]");

    assertThat(conflicts(younger, older))
        .singleElement()
        .asString()
        .contains("has the storage class \"fast\" already");
  }

  @Test
  void socketDirectoryOfAnotherDriverIsAConflict() {
    var older = resource("older", 1, "driverName: a");
    var younger =
        resource(
            "younger",
            2,
            """
            driverName: b
              driverPerNodeTemplate:
                spec:
                  volumes: [{name: v, hostPath: {path: /var/lib/kubelet/plugins/a/}}]
            """);

    assertThat(conflicts(younger, older))
        .singleElement()
        .asString()
        .contains("has the socket directory /var/lib/kubelet/plugins/a already");
  }

  @Test
  void hostPortsCollideWhereBothCanRun() {
    var older = resource("older", 1, hostPort("a", "{zone: one}"));
    var everywhere = resource("everywhere", 2, hostPort("b", "{}"));
    var elsewhere = resource("elsewhere", 2, hostPort("c", "{zone: two}"));

    assertThat(conflicts(everywhere, older))
        .singleElement()
        .asString()
        .contains("has the host port 9000 (TCP) already");
    assertThat(conflicts(elsewhere, older)).isEmpty();
  }

  @Test
  void probesOnTheHostsNetworkCollideUnlessTheirPortIsMoved() {
    String probed =
        """
        driverName: %s
          probePeriodSeconds: 60
          %s
          driverPerNodeTemplate:
            spec: {hostNetwork: true, containers: [{name: d}]}
        """;
    var older = resource("older", 1, probed.formatted("a", ""));
    var same = resource("same", 2, probed.formatted("b", ""));
    var moved =
        resource(
            "moved",
            2,
            probed.formatted("c", "sidecars: {livenessProbe: {extraArgs: [--health-port=9810]}}"));

    assertThat(conflicts(same, older)).singleElement().asString().contains("host port 9808");
    assertThat(conflicts(moved, older)).isEmpty();
  }

  @Test
  void pmemDriverOfTheSameNameIsAConflict() {
    var younger = resource("younger", 2, "driverName: pmem-csi.intel.com");

    assertThat(messages(CONFLICTS.of(younger, List.of(), List.of(pmem(1)))))
        .singleElement()
        .asString()
        .startsWith(
            "PmemCSIDeployment \"pmem-csi.intel.com\", which is older, has the driver name");
  }

  @Test
  void pmemDriverOfTheSameSecondDoesNotTakeANameThatIsOwned() {
    var first = resource("first", 2, "driverName: pmem-csi.intel.com");

    assertThat(
            new Conflicts(OperatorConfig.DEFAULT, owned(Map.of("pmem-csi.intel.com", "uid-first")))
                .of(first, List.of(), List.of(pmem(2))))
        .isEmpty();
  }

  @Test
  void everythingSharedHasACommonKey() {
    var one = ExclusiveNames.of(resource("one", 1, hostPort("a", "{}")), OperatorConfig.DEFAULT);

    assertThat(one.keys()).containsExactly("driver a", "port TCP9000");
    var other =
        ExclusiveNames.of(
            resource(
                "two",
                1,
                """
                driverName: b
                  driverPerNodeTemplate:
                    spec:
                      volumes:
                      - {name: v, hostPath: {path: /somewhere/kubelet/plugins/a/sub}}
                      - {name: w, hostPath: {path: /dev}}
                """),
            OperatorConfig.DEFAULT);
    assertThat(other.keys())
        .as("directories without a socket make no conflict")
        .containsExactly("driver b", "driver a");
  }

  @Test
  void ownerOfANameKeepsItWhateverItsAge() {
    var older =
        resource("older", 1, "driverName: a\n  storageClassTemplates: [{metadata: {name: c}}]");
    var younger =
        resource("younger", 2, "driverName: a\n  storageClassTemplates: [{metadata: {name: c}}]");
    var conflicts =
        new Conflicts(OperatorConfig.DEFAULT, owned(Map.of("a", "uid-younger", "c", "uid-older")));

    assertThat(messages(conflicts.of(older, List.of(younger), List.of())))
        .containsExactly(
            "CSIDriverDeployment \"younger\" in namespace \"ns\" has the driver name \"a\" already:"
                + " change or delete one of the two");
    assertThat(messages(conflicts.of(younger, List.of(older), List.of())))
        .singleElement()
        .asString()
        .contains("which is older, has the storage class \"c\" already");
    assertThat(conflicts.conflictingPeers(younger, List.of(older))).containsExactly(older);
  }

  @Test
  void nameOfAThirdOwnerGoesToTheOlderOfTwo() {
    var older = resource("older", 1, "driverName: a");
    var younger = resource("younger", 2, "driverName: a");
    var conflicts = new Conflicts(OperatorConfig.DEFAULT, owned(Map.of("a", "uid-of-a-third")));

    assertThat(conflicts.of(older, List.of(younger), List.of())).isEmpty();
    assertThat(conflicts.of(younger, List.of(older), List.of())).hasSize(1);
  }

  @Test
  void directoryInsideTheSocketDirectoryIsAConflictAndItsParentIsNone() {
    var older = resource("older", 1, "driverName: a");

    assertThat(conflicts(mounting("/var/lib/kubelet/plugins/a/sub"), older)).hasSize(1);
    assertThat(conflicts(mounting("/var/lib/kubelet/plugins"), older)).isEmpty();
    assertThat(conflicts(mounting("/var/lib/kubelet/plugins/ab"), older)).isEmpty();
    assertThat(conflicts(mounting("/other/kubelet/plugins/a"), older)).isEmpty();
  }

  @Test
  void portsOfContainersThatRunBesideTheOthersCount() {
    String spec =
        """
        driverName: %s
          driverPerNodeTemplate:
            spec:
              initContainers: [{name: i, %s ports: [{containerPort: 1, hostPort: 9000}]}]
              containers: [{name: d}]
        """;
    var older = resource("older", 1, hostPort("a", "{}"));
    var beside = resource("beside", 2, spec.formatted("b", "restartPolicy: Always,"));
    var before = resource("before", 2, spec.formatted("c", ""));

    assertThat(conflicts(beside, older)).hasSize(1);
    assertThat(conflicts(before, older)).isEmpty();
  }

  private static CSIDriverDeployment mounting(String directory) {
    return resource(
        "younger",
        2,
        """
        driverName: b
          driverPerNodeTemplate:
            spec:
              volumes: [{name: v, hostPath: {path: %s}}]
        """
            .formatted(directory));
  }

  private static PmemCSIDeployment pmem(int second) {
    var pmem = new PmemCSIDeployment();
    pmem.setMetadata(
        new ObjectMetaBuilder()
            .withName("pmem-csi.intel.com")
            .withUid("u")
            .withCreationTimestamp("2030-01-01T00:00:0%dZ".formatted(second))
            .build());
    return pmem;
  }

  private static NameOwners owned(Map<String, String> owners) {
    return new NameOwners(owners, owners);
  }

  private static List<String> messages(List<Conflicts.Conflict> conflicts) {
    return conflicts.stream().map(Conflicts.Conflict::message).toList();
  }

  private static List<String> conflicts(CSIDriverDeployment of, CSIDriverDeployment other) {
    return messages(CONFLICTS.of(of, List.of(other), List.of()));
  }

  private static String hostPort(String driver, String selector) {
    return """
    driverName: %s
      driverPerNodeTemplate:
        spec:
          nodeSelector: %s
          containers: [{name: d, ports: [{containerPort: 1, hostPort: 9000}]}]
    """
        .formatted(driver, selector);
  }

  private static CSIDriverDeployment resource(String name, int second, String spec) {
    CSIDriverDeployment resource = YAML.unmarshal("spec:\n  " + spec, CSIDriverDeployment.class);
    resource.setMetadata(
        new ObjectMetaBuilder()
            .withName(name)
            .withNamespace("ns")
            .withUid("uid-" + name)
            .withCreationTimestamp("2030-01-01T00:00:0%dZ".formatted(second))
            .build());
    return resource;
  }
}
