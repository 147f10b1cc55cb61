package io.pmemcsi.operator;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSetStatusBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatusBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.generic.CSIDriverDeployment;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.RequestFault;
import io.pmemcsi.embedded.fault.RequestFault.Moment;
import io.pmemcsi.embedded.fault.SeenRequest;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every situation in the life of a CSIDriverDeployment, with every kind of call to the API failing
 * once, before it takes effect or after: the end is always the same. On the embedded API.
 */
class GenericFaultsIT {

  private static final String NAMESPACE = "drivers";
  private static final String NAME = "faults";

  /**
   * A situation.
   *
   * @param before what is there
   * @param action what then happens
   */
  record World(String name, Consumer<Scene> before, Consumer<Scene> action) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<World> worlds() {
    return Stream.of(
        new World("create all", scene -> {}, Scene::create),
        new World(
            "own account",
            scene -> {},
            scene ->
                scene.create(
                    GenericResource.yaml(NAME)
                        .replace("nodeSelector", "serviceAccountName: own\n      nodeSelector"))),
        new World(
            "no probe",
            scene -> {},
            scene ->
                scene.create(GenericResource.yaml(NAME).replace("  probePeriodSeconds: 60\n", ""))),
        new World(
            "security context",
            scene -> {},
            scene ->
                scene.create(
                    GenericResource.yaml(NAME)
                        .replace("privileged: true", "privileged: true, runAsUser: 7"))),
        new World(
            "nothing changes",
            Scene::create,
            scene -> scene.patch("{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}")),
        new World("edits by others", Scene::create, Scene::editAll),
        new World("deletions by others", Scene::create, Scene::deleteAll),
        new World(
            "edit of the resource",
            Scene::create,
            scene ->
                scene.patch(
                    "{\"spec\":{\"logLevel\":2,\"replicas\":3,\"driverControllerTemplate\":"
                        + "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}}}")),
        new World(
            "controller removed",
            Scene::create,
            scene -> scene.patch("{\"spec\":{\"driverControllerTemplate\":null}}")),
        new World(
            "other classes",
            Scene::create,
            scene ->
                scene.patch(
                    "{\"spec\":{\"storageClassTemplates\":[{\"metadata\":{\"name\":\"faults-second\"},"
                        + "\"parameters\":{\"a\":\"changed\"}},{\"metadata\":{\"name\":\"third\"}}]}}")),
        new World("status of workloads", Scene::create, Scene::makeReady),
        new World(
            "unmanaged",
            Scene::create,
            scene -> scene.patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}")),
        new World("deletion", Scene::create, Scene::delete),
        new World(
            "deletion with half gone",
            Scene::create,
            scene -> {
              scene.stop();
              Scene.retrying(() -> scene.client.rbac().clusterRoleBindings().delete());
              Scene.retrying(() -> scene.client.storage().v1().storageClasses().delete());
              scene.delete();
              scene.start();
            }),
        new World(
            "deletion of unmanaged",
            scene -> {
              scene.create();
              scene.awaitQuiet();
              scene.patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}");
            },
            Scene::delete));
  }

  @ParameterizedTest
  @MethodSource("worlds")
  void endIsTheSameWhateverFailsOnce(World world) {
    Map<String, String> expected;
    try (var scene = new Scene()) {
      world.before.accept(scene);
      scene.awaitQuiet();
      world.action.accept(scene);
      scene.awaitQuiet();
      expected = scene.state();
    }
    for (FailEachOnce plan : plans()) {
      try (var scene = new Scene()) {
        world.before.accept(scene);
        scene.awaitQuiet();
        scene.server.faults().follow(plan);
        world.action.accept(scene);
        await(world + " " + plan)
            .ignoreExceptions()
            .atMost(Duration.ofSeconds(60))
            .untilAsserted(() -> assertThat(scene.stateOrWoken(expected)).isEqualTo(expected));
        assertThat(plan.failed).isNotEmpty();
      }
    }
  }

  private static List<FailEachOnce> plans() {
    return Boolean.getBoolean("pmem-csi.campaign")
        ? List.of(
            new FailEachOnce(request -> Moment.BEFORE), new FailEachOnce(request -> Moment.AFTER))
        : List.of(
            new FailEachOnce(
                request -> request.hashCode() % 2 == 0 ? Moment.BEFORE : Moment.AFTER));
  }

  /** Each call that differs in verb, kind or name fails the first time. */
  private static final class FailEachOnce implements FaultPlan {

    private final Function<String, Moment> moment;
    private final Set<String> failed = ConcurrentHashMap.newKeySet();

    FailEachOnce(Function<String, Moment> moment) {
      this.moment = moment;
    }

    @Override
    public RequestFault onRequest(SeenRequest request) {
      return !request.verb().equals("watch") && failed.add(request.toString())
          ? new RequestFault.Fail(500, moment.apply(request.toString()))
          : RequestFault.NONE;
    }

    @Override
    public String toString() {
      return "after " + failed;
    }
  }

  /** One embedded cluster with an operator. */
  static final class Scene implements AutoCloseable {

    private final EmbeddedKubernetes server = EmbeddedKubernetes.start();
    private final KubernetesClient client = client(server);
    private final GenericResource driver = new GenericResource(client, NAMESPACE, NAME);
    private Optional<OperatorProgram> program = Optional.empty();
    private int wakes;

    Scene() {
      InstalledOperator.installCrds(client);
      client
          .resource(
              new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
          .create();
      start();
    }

    void start() {
      program =
          Optional.of(
              retrying(
                  () ->
                      OperatorProgram.start(
                          client,
                          new OperatorOptions(
                              Optional.empty(), Optional.of("image:one"), Optional.empty(), false),
                          Map.of("WATCH_NAMESPACE", NAMESPACE),
                          Clock.systemUTC())));
    }

    void stop() {
      program.ifPresent(OperatorProgram::close);
      program = Optional.empty();
    }

    void create() {
      create(GenericResource.yaml(NAME));
    }

    void create(String yaml) {
      retrying(
          () -> {
            try {
              return driver.create(yaml);
            } catch (KubernetesClientException e) {
              if (e.getCode() == HTTP_CONFLICT) {
                // it was carried out before it failed
                return driver;
              }
              throw e;
            }
          });
    }

    void patch(String json) {
      retrying(
          () -> {
            driver.patch(json);
            return true;
          });
    }

    void delete() {
      retrying(
          () -> {
            driver.resource().delete();
            return true;
          });
    }

    /**
     * A state that is not the expected one is looked at again soon: the pause before the next
     * attempt grows with every failure, and a change of the resource ends it.
     */
    Map<String, String> stateOrWoken(Map<String, String> expected) {
      Map<String, String> state = state();
      if (!state.equals(expected) && driver.get() != null) {
        wakes++;
        driver.patch("{\"spec\":{\"draining\":{\"parallelNodes\":%d}}}".formatted(wakes % 9 + 1));
      }
      return state;
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
      for (HasMetadata object : retrying(driver::objects)) {
        retrying(
            () -> {
              client.resource(object).delete();
              return true;
            });
      }
    }

    /** As the controllers of Kubernetes do it. */
    void makeReady() {
      retrying(
          () ->
              client
                  .apps()
                  .daemonSets()
                  .inNamespace(NAMESPACE)
                  .withName(NAME + "-node")
                  .editStatus(
                      workload -> {
                        workload.setStatus(
                            new DaemonSetStatusBuilder()
                                .withObservedGeneration(workload.getMetadata().getGeneration())
                                .withDesiredNumberScheduled(2)
                                .withCurrentNumberScheduled(2)
                                .withUpdatedNumberScheduled(2)
                                .withNumberReady(2)
                                .withNumberMisscheduled(0)
                                .build());
                        return workload;
                      }));
      retrying(
          () ->
              client
                  .apps()
                  .deployments()
                  .inNamespace(NAMESPACE)
                  .withName(NAME + "-controller")
                  .editStatus(
                      workload -> {
                        workload.setStatus(
                            new DeploymentStatusBuilder()
                                .withObservedGeneration(workload.getMetadata().getGeneration())
                                .withReplicas(1)
                                .withUpdatedReplicas(1)
                                .withReadyReplicas(1)
                                .build());
                        return workload;
                      }));
    }

    private static <T> T retrying(Callable<T> action) {
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

    Map<String, String> state() {
      var state = new TreeMap<>(Snapshot.of(driver.objects()));
      CSIDriverDeployment resource = driver.get();
      state.put("resource", resource == null ? "gone" : status(resource));
      return state;
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

    void awaitQuiet() {
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () -> {
                int before = server.requests().writes().size();
                Thread.sleep(700);
                return server.requests().writes().size() == before && isSettled();
              });
    }

    /** Whether the operator has seen the resource as it is now. */
    private boolean isSettled() {
      CSIDriverDeployment resource = driver.get();
      if (resource == null) {
        return true;
      }
      var status = resource.getStatus();
      if (status == null || resource.getMetadata().getDeletionTimestamp() != null) {
        return false;
      }
      return "Unmanaged".equals(resource.getSpec().managementState())
          ? "Unmanaged".equals(status.state())
          : isCurrent(resource);
    }

    @Override
    public void close() {
      server.faults().clear();
      stop();
      client.close();
      server.close();
    }

    private static KubernetesClient client(EmbeddedKubernetes server) {
      Config config =
          new ConfigBuilder(Config.empty())
              .withMasterUrl(server.url().toString())
              .withRequestRetryBackoffLimit(0)
              .build();
      return new KubernetesClientBuilder().withConfig(config).build();
    }
  }
}
