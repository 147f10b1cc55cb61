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
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A situation in the life of a CSIDriverDeployment.
 *
 * @param before what is there
 * @param action what then happens
 */
record TemplateWorld(String name, Consumer<Subject> before, Consumer<Subject> action) {

  private static final String NOTHING = "nothing changes";

  @Override
  public String toString() {
    return name;
  }

  /** Whether the operator need not write, nor ask anybody. */
  boolean changesNothing() {
    return name.equals(NOTHING);
  }

  static Stream<TemplateWorld> all() {
    return Stream.of(
        new TemplateWorld("create all", subject -> {}, Subject::create),
        new TemplateWorld(
            "own account",
            subject -> {},
            subject ->
                subject.create(
                    subject
                        .yaml()
                        .replace("nodeSelector", "serviceAccountName: own\n      nodeSelector"))),
        new TemplateWorld(
            "no probe",
            subject -> {},
            subject -> subject.create(subject.yaml().replace("  probePeriodSeconds: 60\n", ""))),
        new TemplateWorld(
            "security context",
            subject -> {},
            subject ->
                subject.create(
                    subject.yaml().replace("privileged: true", "privileged: true, runAsUser: 7"))),
        new TemplateWorld(
            NOTHING,
            Subject::create,
            subject -> subject.patch("{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}")),
        new TemplateWorld("edits by others", Subject::create, Subject::editAll),
        new TemplateWorld("deletions by others", Subject::create, Subject::deleteAll),
        new TemplateWorld(
            "edit of the resource",
            Subject::create,
            subject ->
                subject.patch(
                    "{\"spec\":{\"logLevel\":2,\"replicas\":3,\"driverControllerTemplate\":"
                        + "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}}}")),
        new TemplateWorld(
            "controller removed",
            Subject::create,
            subject -> subject.patch("{\"spec\":{\"driverControllerTemplate\":null}}")),
        new TemplateWorld(
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
        new TemplateWorld(
            "another name for the driver",
            Subject::create,
            subject ->
                subject.patch(
                    "{\"spec\":{\"driverName\":\"other-%s.example.com\"}}"
                        .formatted(subject.name()))),
        new TemplateWorld("object of somebody else", Subject::createForeignClass, Subject::create),
        new TemplateWorld(
            "unmanaged",
            Subject::create,
            subject -> subject.patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}")),
        new TemplateWorld("deletion", Subject::create, Subject::delete),
        new TemplateWorld(
            "deletion with half gone",
            Subject::create,
            subject -> {
              subject.deleteHalf();
              subject.delete();
            }),
        new TemplateWorld(
            "deletion of unmanaged",
            subject -> {
              subject.create();
              subject.awaitSeen();
              subject.patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}");
            },
            Subject::delete),
        new TemplateWorld(
            "deletion held back",
            subject -> {
              subject.create();
              subject.createVolume();
            },
            Subject::delete),
        new TemplateWorld(
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
   * Whether the operator has made up for what others did, where nothing in the resource tells.
   *
   * @param states by name of the situation
   */
  static boolean areRepaired(Map<String, Map<String, String>> states) {
    return Objects.equals(states.get("deletions by others"), states.get("create all"))
        && states.getOrDefault("edits by others", Map.of()).values().stream()
            .noneMatch(object -> object.contains("\"somebody\""));
  }

  /** A resource to which this happens, and somebody who tries again when a call fails. */
  record Subject(KubernetesClient client, TemplateResource driver) {

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

    /** Changes the resource back to what {@link #create()} makes. */
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
                          "csidriver.storage.openshift.io/owner-name": "somebody"}}}
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

    void createForeignClass() {
      create(
          new StorageClassBuilder()
              .withNewMetadata()
              .withName(name() + "-second")
              .endMetadata()
              .withProvisioner("somebody.else")
              .build());
    }

    void createVolume() {
      create(CsiVolumes.volume(name(), name() + ".csi.example.com"));
    }

    private void create(HasMetadata object) {
      retrying(() -> ignoringRepetition(() -> client.resource(object).create()));
    }

    /** Removes what no operator removes. */
    void tidy() {
      deleteVolume();
      client.storage().v1().storageClasses().withName(name() + "-second").delete();
    }

    /** So that nothing holds the driver back any more. */
    void deleteVolume() {
      client.persistentVolumes().withName(name()).delete();
    }

    /** Whether the operator has seen the resource as it is now. */
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

    /** Everything that was made, and what is said about it; without the subject's own name. */
    Map<String, String> state() {
      var state = new TreeMap<String, String>();
      Snapshot.of(driver.objects())
          .forEach((name, text) -> state.put(nameless(name), nameless(text)));
      CSIDriverDeployment resource = driver.get();
      state.put("resource", resource == null ? "gone" : nameless(status(resource)));
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
        // it was carried out before it failed
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
