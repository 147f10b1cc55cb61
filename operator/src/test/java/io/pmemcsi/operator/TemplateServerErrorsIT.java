package io.pmemcsi.operator;

import static java.net.HttpURLConnection.HTTP_INTERNAL_ERROR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.pmemcsi.operator.TemplateScenario.Subject;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.Clients;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The scenarios of {@link TemplateFaultsIT} on a real control plane: each one runs twice, once
 * without faults and once with every call of the operator failing once. Both reach the same final
 * state.
 */
@WithKubernetes
class TemplateServerErrorsIT {

  /** A scenario without and with failed calls. */
  private record Pair(TemplateScenario scenario, Subject plain, Subject refused) {

    Stream<Subject> both() {
      return Stream.of(plain, refused);
    }
  }

  /**
   * A call that fails the first time.
   *
   * @param about the path, for a creation with the name of the new object
   */
  private record Call(String verb, String kind, String about) {

    String sort() {
      return verb + " " + kind;
    }
  }

  private static final String REFUSED = "refus-";

  /** What the operator lists before it deletes a driver. */
  private static final Set<String> GUARDS =
      Set.of(
          "/api/v1/persistentvolumes",
          "/api/v1/pods",
          "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
          "/apis/rbac.authorization.k8s.io/v1/clusterroles",
          "/apis/storage.k8s.io/v1/csidrivers",
          "/apis/storage.k8s.io/v1/storageclasses",
          "/apis/storage.k8s.io/v1/volumeattachments");

  private static final Pattern KIND =
      Pattern.compile("^/apis?/(?:[^/]+/)?v[^/]+/(?:namespaces/[^/]+/)?([^/]+)");

  /** The name of the object: those of labels and owners come later or differ. */
  private static final Pattern NAME = Pattern.compile("\"name\":\"([^\"]*refus-[^\"]*)\"");

  private final Set<Call> refusals = ConcurrentHashMap.newKeySet();
  private volatile boolean refusing;

  @Test
  void finalStateIsTheSameWhateverTheServerFailsOnce(Sandbox sandbox) {
    InstalledOperator.install(sandbox);
    KubernetesClient limited = refusingClient(sandbox);
    OperatorProgram operator =
        OperatorProgram.start(
            limited,
            new OperatorOptions(
                Optional.empty(), Optional.of("any"), Optional.empty(), false, Optional.empty()),
            Map.of("WATCH_NAMESPACE", sandbox.namespace()),
            Clock.systemUTC(),
            TemplateFaultsIT.QUICK);
    List<TemplateScenario> scenarios = TemplateScenario.all().toList();
    List<Pair> pairs =
        scenarios.stream()
            .map(
                scenario ->
                    new Pair(
                        scenario,
                        subject(sandbox, "plain-%02d".formatted(scenarios.indexOf(scenario))),
                        subject(sandbox, REFUSED + "%02d".formatted(scenarios.indexOf(scenario)))))
            .toList();
    sandbox.cleanUp(limited::close);
    sandbox.cleanUp(operator::close);
    sandbox.cleanUp(() -> tidy(pairs));

    pairs.forEach(pair -> pair.both().forEach(pair.scenario().before()));
    pairs.forEach(pair -> pair.both().forEach(Subject::awaitSeen));
    refusing = true;
    pairs.forEach(pair -> pair.both().forEach(pair.scenario().action()));

    awaitPlainOnes(pairs);
    for (Pair pair : pairs) {
      // controllers may still update the status of both
      await(pair.scenario().name())
          .atMost(Duration.ofMinutes(3))
          .untilAsserted(() -> assertThat(pair.refused().state()).isEqualTo(pair.plain().state()));
      assertThat(refusals)
          .as("failed calls in:  " + pair.scenario())
          .matches(
              calls ->
                  pair.scenario().changesNothing()
                      || calls.stream()
                          .anyMatch(call -> call.about().contains(pair.refused().name())));
    }
    assertThat(refusals.stream().map(Call::sort).distinct())
        .as("kinds of calls that failed")
        .containsAll(everySortOfCall());
  }

  /** Some scenario reads, creates, updates and deletes each kind of object. */
  private static List<String> everySortOfCall() {
    return Stream.concat(
            Stream.of(
                    "csidrivers",
                    "serviceaccounts",
                    "roles",
                    "rolebindings",
                    "clusterroles",
                    "clusterrolebindings",
                    "storageclasses",
                    "daemonsets",
                    "deployments")
                .flatMap(
                    kind ->
                        Stream.of("GET", "POST", "PATCH", "DELETE").map(verb -> verb + " " + kind)),
            Stream.of(
                "DRY-RUN daemonsets",
                "DRY-RUN deployments",
                "PUT csidriverdeployments/status",
                "PATCH csidriverdeployments",
                "POST events",
                "LIST clusterrolebindings",
                "LIST clusterroles",
                "LIST csidrivers",
                "LIST persistentvolumes",
                "LIST pods",
                "LIST storageclasses",
                "LIST volumeattachments"))
        .toList();
  }

  /** Waits until they no longer change. */
  private static void awaitPlainOnes(List<Pair> pairs) {
    var last = new AtomicReference<List<Map<String, String>>>(List.of());
    await()
        .atMost(Duration.ofMinutes(3))
        .pollInterval(Duration.ofSeconds(2))
        .until(
            () -> {
              List<Map<String, String>> now =
                  pairs.stream().map(pair -> pair.plain().state()).toList();
              Map<String, Map<String, String>> byName =
                  IntStream.range(0, now.size())
                      .boxed()
                      .collect(Collectors.toMap(i -> pairs.get(i).scenario().name(), now::get));
              return now.equals(last.getAndSet(now))
                  && pairs.stream().allMatch(pair -> pair.plain().isSeen())
                  && TemplateScenario.areRepaired(byName);
            });
  }

  private static Subject subject(Sandbox sandbox, String name) {
    return new Subject(
        sandbox.client(), new TemplateResource(sandbox.client(), sandbox.namespace(), name));
  }

  /** The operator must delete the remaining objects, so it is closed afterwards. */
  private void tidy(List<Pair> pairs) {
    refusing = false;
    List<Subject> all = pairs.stream().flatMap(Pair::both).toList();
    all.forEach(Subject::tidy);
    all.forEach(Subject::delete);
    all.forEach(subject -> await().until(() -> subject.driver().get() == null));
    all.stream()
        .flatMap(subject -> subject.driver().objects().stream())
        .toList()
        .forEach(left -> all.getFirst().client().resource(left).delete());
  }

  private KubernetesClient refusingClient(Sandbox sandbox) {
    return Clients.to(sandbox.clientAs(OperatorInstallation.NAME).getConfiguration())
        .withHttpClientBuilderConsumer(
            builder -> builder.addOrReplaceInterceptor("refusals", new ErrorInjector()))
        .build();
  }

  /**
   * Fails each call about one of its subjects once with status 500. A create request has the name
   * in its body only; list requests for volumes and remaining objects name no subject, so the first
   * one of each kind fails.
   */
  private final class ErrorInjector implements Interceptor {
    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
      if (refusing) {
        call(request).filter(refusals::add).ifPresent(ErrorInjector::refuse);
      }
    }

    private static Optional<Call> call(HttpRequest request) {
      String path = request.uri().getPath();
      String verb =
          String.valueOf(request.uri().getQuery()).contains("dryRun=")
              ? "DRY-RUN"
              : request.method();
      String kind = kind(path);
      if (verb.equals("GET") && GUARDS.contains(path)) {
        return Optional.of(new Call("LIST", kind, ""));
      }
      String about =
          verb.equals("POST") ? path + "/" + name(String.valueOf(request.bodyString())) : path;
      return about.contains(REFUSED) ? Optional.of(new Call(verb, kind, about)) : Optional.empty();
    }

    /** The part after the version, and after the namespace if there is one. */
    private static String kind(String path) {
      Matcher matcher = KIND.matcher(path);
      return matcher.find() ? matcher.group(1) + (path.endsWith("/status") ? "/status" : "") : path;
    }

    private static String name(String body) {
      Matcher matcher = NAME.matcher(body);
      return matcher.find() ? matcher.group(1) : "";
    }

    private static void refuse(Call call) {
      Status status =
          new StatusBuilder().withCode(HTTP_INTERNAL_ERROR).withMessage("refused once").build();
      throw new KubernetesClientException("refused once: " + call, HTTP_INTERNAL_ERROR, status);
    }
  }
}
