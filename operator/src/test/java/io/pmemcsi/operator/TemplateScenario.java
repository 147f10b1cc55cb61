package io.pmemcsi.operator;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.tools.render.Rendering;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A scenario in the lifecycle of a CSIDriverDeployment.
 *
 * @param before the initial state
 * @param action the action that follows
 */
record TemplateScenario(String name, Consumer<Subject> before, Consumer<Subject> action) {

  private static final String NOTHING = "nothing changes";

  @Override
  public String toString() {
    return name;
  }

  /** Whether the operator needs no write and no list request. */
  boolean changesNothing() {
    return name.equals(NOTHING);
  }

  static Stream<TemplateScenario> all() {
    return Stream.of(
        new TemplateScenario("create all", subject -> {}, Subject::create),
        new TemplateScenario(
            "own account",
            subject -> {},
            subject ->
                subject.create(
                    subject
                        .yaml()
                        .replace("nodeSelector", "serviceAccountName: own\n      nodeSelector"))),
        new TemplateScenario(
            "no probe",
            subject -> {},
            subject -> subject.create(subject.yaml().replace("  probePeriodSeconds: 60\n", ""))),
        new TemplateScenario(
            "security context",
            subject -> {},
            subject ->
                subject.create(
                    subject.yaml().replace("privileged: true", "privileged: true, runAsUser: 7"))),
        new TemplateScenario(
            NOTHING,
            Subject::create,
            subject -> subject.patch("{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}")),
        new TemplateScenario("edits by others", Subject::create, Subject::editAll),
        new TemplateScenario("deletions by others", Subject::create, Subject::deleteAll),
        new TemplateScenario(
            "edit of the resource",
            Subject::create,
            subject ->
                subject.patch(
                    "{\"spec\":{\"logLevel\":2,\"replicas\":3,\"driverControllerTemplate\":"
                        + "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}}}")),
        new TemplateScenario(
            "controller removed",
            Subject::create,
            subject -> subject.patch("{\"spec\":{\"driverControllerTemplate\":null}}")),
        new TemplateScenario(
            "other classes",
            Subject::create,
            subject ->
                subject.patch(
                    """
                    {"spec":{"storageClassTemplates":[
                      {"metadata":{"name":"NAME-second"},"parameters":{"a":"changed"}},
                      {"metadata":{"name":"NAME-third"}}]}}
                    """
                        .replace("NAME", subject.name()))),
        new TemplateScenario(
            "another name for the driver",
            Subject::create,
            subject ->
                subject.patch(
                    "{\"spec\":{\"driverName\":\"other-%s.example.com\"}}"
                        .formatted(subject.name()))),
        new TemplateScenario(
            "object that is not owned", Subject::createNotOwnedStorageClass, Subject::create),
        new TemplateScenario(
            "unmanaged",
            Subject::create,
            subject -> subject.patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}")),
        new TemplateScenario("deletion", Subject::create, Subject::delete),
        new TemplateScenario(
            "deletion with half of the objects deleted",
            Subject::create,
            subject -> {
              subject.deleteHalf();
              subject.delete();
            }),
        new TemplateScenario(
            "deletion of unmanaged",
            subject -> {
              subject.create();
              subject.awaitSeen();
              subject.patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}");
            },
            Subject::delete),
        new TemplateScenario(
            "deletion held back",
            subject -> {
              subject.create();
              subject.createVolume();
            },
            Subject::delete),
        new TemplateScenario(
            "deletion by force",
            subject -> {
              subject.create();
              subject.createVolume();
              subject.awaitSeen();
              subject.delete();
            },
            subject ->
                subject.patch(
                    "{\"metadata\":{\"annotations\":"
                        + "{\"csidriver.storage.openshift.io/force-deletion\":\"true\"}}}")));
  }

  /**
   * Whether the operator reverted drift that the status does not report.
   *
   * @param states by name of the scenario
   */
  static boolean areRepaired(Map<String, Map<String, String>> states) {
    return Objects.equals(states.get("deletions by others"), states.get("create all"))
        && states.getOrDefault("edits by others", Map.of()).values().stream()
            .noneMatch(object -> object.contains("\"another-owner\""));
  }

  /** The resource of a scenario, and a user who retries failed calls. */
  record Subject(KubernetesClient client, TemplateResource driver) {

    /** The name of a pod ends in random characters. */
    private static final Pattern POD =
        Pattern.compile("NAME-(node|controller)(?:-[a-z0-9]+)?-[a-z0-9]{5}\\b");

    String name() {
      return driver.name();
    }

    String yaml() {
      return TemplateResource.yaml(name());
    }

    void create() {
      create(yaml());
    }

    void create(String yaml) {
      retrying(() -> ignoringRepetition(() -> driver.create(yaml)));
    }

    void patch(String json) {
      retrying(
          () -> {
            driver.patch(json);
            return true;
          });
    }

    /** Restores the resource to the state after {@link #create()}. */
    void restore() {
      String good = client.getKubernetesSerialization().asJson(good().getSpec());
      retrying(
          () ->
              driver
                  .resource()
                  .patch(
                      PatchContext.of(PatchType.JSON),
                      "[{\"op\":\"replace\",\"path\":\"/spec\",\"value\":%s}]".formatted(good)));
    }

    private CSIDriverDeployment good() {
      return (CSIDriverDeployment) new Rendering().read(yaml());
    }

    void delete() {
      retrying(
          () -> {
            driver.resource().delete();
            return true;
          });
    }

    void editAll() {
      for (HasMetadata object : retrying(driver::objects)) {
        retrying(
            () ->
                client
                    .resource(object)
                    .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        """
                        {"metadata": {"labels": {"mine": "kept",
                          "csidriver.storage.openshift.io/owner-name": "another-owner"}}}
                        """));
      }
    }

    void deleteAll() {
      retrying(driver::objects).forEach(this::delete);
    }

    void deleteHalf() {
      retrying(driver::objects).stream()
          .filter(object -> object.getKind().matches("ClusterRoleBinding|StorageClass"))
          .forEach(this::delete);
    }

    private void delete(HasMetadata object) {
      retrying(
          () -> {
            client.resource(object).delete();
            return true;
          });
    }

    void createNotOwnedStorageClass() {
      create(
          new StorageClassBuilder()
              .withNewMetadata()
              .withName(name() + "-second")
              .endMetadata()
              .withProvisioner("other.example.com")
              .build());
    }

    void createVolume() {
      create(CsiVolumes.volume(name(), name() + ".csi.example.com"));
    }

    private void create(HasMetadata object) {
      retrying(() -> ignoringRepetition(() -> client.resource(object).create()));
    }

    /** Deletes objects that no operator deletes. */
    void tidy() {
      deleteVolume();
      client.storage().v1().storageClasses().withName(name() + "-second").delete();
    }

    /** Deletes the volume, so that nothing blocks the deletion any more. */
    void deleteVolume() {
      client.persistentVolumes().withName(name()).delete();
    }

    /** Whether the operator observed the current resource. */
    boolean isSeen() {
      CSIDriverDeployment resource = driver.get();
      if (resource == null) {
        return true;
      }
      var status = resource.getStatus();
      if (status == null) {
        return false;
      }
      if (resource.getMetadata().getDeletionTimestamp() != null) {
        return status.condition("DeletionHeld").isPresent();
      }
      return "Unmanaged".equals(resource.getSpec().managementState())
          ? "Unmanaged".equals(status.state())
          : isCurrent(resource)
              || status
                  .condition("SyncSuccessful")
                  .filter(sync -> sync.status().equals("False"))
                  .isPresent();
    }

    void awaitSeen() {
      await().ignoreExceptions().until(this::isSeen);
    }

    /** All objects and the status, without the subject's own name and those of its pods. */
    Map<String, String> state() {
      var state = new TreeMap<String, String>();
      Snapshot.of(driver.objects())
          .forEach((name, text) -> state.put(nameless(name), nameless(text)));
      CSIDriverDeployment resource = driver.get();
      state.put(
          "resource",
          resource == null
              ? "deleted"
              : POD.matcher(nameless(status(resource))).replaceAll("NAME-$1-pod"));
      return state;
    }

    private String nameless(String text) {
      return text.replace(name(), "NAME");
    }

    private static String status(CSIDriverDeployment resource) {
      var status = resource.getStatus();
      return status.conditions().stream()
          .map(one -> one.type() + one.status() + one.reason() + one.message())
          .sorted()
          .collect(Collectors.joining(" ", status.state() + isCurrent(resource) + " ", ""));
    }

    private static boolean isCurrent(CSIDriverDeployment resource) {
      return Objects.equals(
          resource.getStatus().observedGeneration(), resource.getMetadata().getGeneration());
    }

    private static <T> boolean ignoringRepetition(Callable<T> creation) throws Exception {
      try {
        creation.call();
      } catch (KubernetesClientException e) {
        // it took effect before it failed
        if (e.getCode() != HTTP_CONFLICT) {
          throw e;
        }
      }
      return true;
    }

    static <T> T retrying(Callable<T> action) {
      for (int attempt = 0; ; attempt++) {
        try {
          return action.call();
        } catch (Exception e) {
          if (attempt > 60) {
            throw new IllegalStateException(e);
          }
        }
      }
    }
  }
}
