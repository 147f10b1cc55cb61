package io.pmemcsi.operator;

import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.operator.TemplateScenario.Subject;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;

/**
 * A random lifecycle of a CSIDriverDeployment: users change it and its objects faster than the
 * operator reconciles, and finally restore it.
 */
final class TemplateLifecycle {

  private static final int TURNS = 4;

  private static final List<Consumer<Subject>> TURNS_OF_LIFE =
      List.of(
          subject -> subject.patch("{\"spec\":{\"logLevel\":1,\"replicas\":3}}"),
          subject -> subject.patch("{\"spec\":{\"driverControllerTemplate\":null}}"),
          subject -> subject.patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}"),
          subject -> subject.patch("{\"spec\":{\"driverSocket\":\"/run/../csi.sock\"}}"),
          subject -> subject.patch("{\"spec\":{\"csiDriver\":{\"podInfoOnMount\":true}}}"),
          subject ->
              subject.patch(
                  "{\"spec\":{\"driverName\":\"other-%s.example.com\"}}".formatted(subject.name())),
          subject ->
              subject.patch(
                  """
                  {"spec":{"storageClassTemplates":[
                    {"metadata":{"name":"NAME-second"},"parameters":{"a":"changed"}},
                    {"metadata":{"name":"NAME-third"}}]}}
                  """
                      .replace("NAME", subject.name())),
          Subject::restore,
          Subject::deleteAll,
          Subject::deleteHalf,
          TemplateLifecycle::relabel);

  private TemplateLifecycle() {}

  static void live(Subject subject, long seed) {
    var lot = new Random(seed);
    // a failed create may have taken effect
    Subject.retrying(
        () -> {
          subject.create();
          return Objects.requireNonNull(subject.driver().get());
        });
    for (int turn = 0; turn < TURNS; turn++) {
      TURNS_OF_LIFE.get(lot.nextInt(TURNS_OF_LIFE.size())).accept(subject);
    }
    subject.restore();
  }

  private static void relabel(Subject subject) {
    for (HasMetadata object : Subject.retrying(subject.driver()::objects)) {
      Subject.retrying(() -> relabel(subject.client().resource(object)));
    }
  }

  private static boolean relabel(Resource<HasMetadata> object) {
    try {
      object.patch(
          PatchContext.of(PatchType.JSON_MERGE),
          """
          {"metadata": {"labels": {"csidriver.storage.openshift.io/owner-name": "another-owner"}}}
          """);
      return true;
    } catch (KubernetesClientException e) {
      // it was deleted concurrently
      if (e.getCode() != HTTP_NOT_FOUND) {
        throw e;
      }
      return false;
    }
  }
}
