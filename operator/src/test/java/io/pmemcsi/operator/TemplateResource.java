package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.tools.render.Rendering;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** One CSIDriverDeployment of a test, and its objects. */
record TemplateResource(KubernetesClient client, String namespace, String name) {

  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  /** A driver with everything that a user usually has, on nodes that only these tests have. */
  static String yaml(String name) {
    return """
    apiVersion: csidriver.storage.openshift.io/v1alpha1
    kind: CSIDriverDeployment
    metadata: {name: NAME}
    spec:
      driverName: NAME.csi.example.com
      driverSocket: /run/csi/csi.sock
      nodeUpdateStrategy: Rolling
      probePeriodSeconds: 60
      driverPerNodeTemplate:
        metadata: {labels: {team: storage}}
        spec:
          nodeSelector: {test/generic: "yes"}
          containers:
            - name: driver
              image: driver:1
              securityContext: {privileged: true}
            - {name: helper, image: "helper:1"}
      driverControllerTemplate:
        spec:
          nodeSelector: {test/generic: "yes"}
          containers: [{name: driver, image: "driver:1"}]
      storageClassTemplates:
        - metadata: {name: NAME-first, annotations: {note: kept}}
          default: true
        - metadata: {name: NAME-second}
          parameters: {a: b}
    """
        .replace("NAME", name);
  }

  TemplateResource create(String yaml) {
    var resource = (CSIDriverDeployment) new Rendering().read(yaml);
    resource.getMetadata().setNamespace(namespace);
    client.resource(resource).create();
    return this;
  }

  TemplateResource create() {
    return create(yaml(name));
  }

  Resource<CSIDriverDeployment> resource() {
    return client.resources(CSIDriverDeployment.class).inNamespace(namespace).withName(name);
  }

  CSIDriverDeployment get() {
    return resource().get();
  }

  CSIDriverDeploymentStatus status() {
    return get().getStatus();
  }

  /** Changes the resource by a JSON merge patch. */
  void patch(String json) {
    resource().patch(PatchContext.of(PatchType.JSON_MERGE), json);
  }

  TemplateResource awaitSynced() {
    awaitCondition(DriverCondition.SYNC_SUCCESSFUL, "True", "");
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () ->
                assertThat(status().observedGeneration())
                    .as(status().toString())
                    .isEqualTo(get().getMetadata().getGeneration()));
    return this;
  }

  void awaitAvailable() {
    awaitCondition(DriverCondition.AVAILABLE, "True", "");
  }

  void awaitSyncError(String message) {
    awaitCondition(DriverCondition.SYNC_SUCCESSFUL, "False", message);
  }

  void awaitNotAvailable(String message) {
    awaitCondition(DriverCondition.AVAILABLE, "False", message);
  }

  private void awaitCondition(String type, String expected, String message) {
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () ->
                assertThat(status().condition(type))
                    .as(status().toString())
                    .hasValueSatisfying(
                        condition -> {
                          assertThat(condition.status()).isEqualTo(expected);
                          assertThat(condition.message()).contains(message);
                        }));
  }

  /** Deletes the resource and waits for the deletion. */
  void delete() {
    resource().delete();
    awaitDeleted();
  }

  void awaitDeleted() {
    await().atMost(TIMEOUT).until(() -> get() == null);
  }

  /** Every object with the ownership labels of this resource. */
  List<HasMetadata> objects() {
    return objects(client, namespace).filter(this::isMine).toList();
  }

  private boolean isMine(HasMetadata object) {
    var labels = object.getMetadata().getLabels();
    return labels != null
        && name.equals(labels.get("csidriver.storage.openshift.io/owner-name"))
        && namespace.equals(labels.get("csidriver.storage.openshift.io/owner-namespace"));
  }

  static Stream<HasMetadata> objects(KubernetesClient client, String namespace) {
    return Stream.<List<? extends HasMetadata>>of(
            client.serviceAccounts().inNamespace(namespace).list().getItems(),
            client.rbac().roles().inNamespace(namespace).list().getItems(),
            client.rbac().roleBindings().inNamespace(namespace).list().getItems(),
            client.rbac().clusterRoles().list().getItems(),
            client.rbac().clusterRoleBindings().list().getItems(),
            client.storage().v1().csiDrivers().list().getItems(),
            client.storage().v1().storageClasses().list().getItems(),
            client.apps().deployments().inNamespace(namespace).list().getItems(),
            client.apps().daemonSets().inNamespace(namespace).list().getItems())
        .flatMap(List::stream)
        .map(HasMetadata.class::cast);
  }

  List<String> objectNames() {
    return objects().stream()
        .map(object -> object.getKind() + " " + object.getMetadata().getName())
        .toList();
  }

  /** The rendered objects. */
  List<HasMetadata> rendered() {
    HasMetadata resource = new Rendering().read(yaml(name));
    resource.getMetadata().setNamespace(namespace);
    return new Rendering()
        .objects(resource, new ClusterProbe(client).facts(namespace, "any:image"));
  }

  DaemonSet daemonSet() {
    return client.apps().daemonSets().inNamespace(namespace).withName(name + "-node").get();
  }

  Deployment deployment() {
    return client.apps().deployments().inNamespace(namespace).withName(name + "-controller").get();
  }

  List<StorageClass> storageClasses() {
    return objects().stream()
        .filter(StorageClass.class::isInstance)
        .map(StorageClass.class::cast)
        .toList();
  }

  List<String> events() {
    String uid = get().getMetadata().getUid();
    return client.v1().events().inNamespace(namespace).list().getItems().stream()
        .filter(event -> uid.equals(event.getInvolvedObject().getUid()))
        .map(Event::getReason)
        .toList();
  }
}
