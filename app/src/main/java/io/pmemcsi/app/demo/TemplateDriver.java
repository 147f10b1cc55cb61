package io.pmemcsi.app.demo;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.pmemcsi.api.generic.CSIDriverDeployment;
import io.pmemcsi.api.generic.CSIDriverDeploymentStatus;
import io.pmemcsi.api.generic.DriverCondition;
import io.pmemcsi.operator.Rendering;
import io.pmemcsi.operator.facts.ClusterProbe;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/**
 * Any CSI driver from pod templates, from the sample to its deletion.
 *
 * @param await waits until something is so
 */
record TemplateDriver(
    Narrator narrator, KubernetesClient client, BiConsumer<String, BooleanSupplier> await) {

  void show(String file, String yaml, String namespace) {
    var sample = (CSIDriverDeployment) new Rendering().read(yaml);
    sample.getMetadata().setNamespace(namespace);
    String name = sample.getMetadata().getName();
    narrator.say(
        "\nApplying deploy/samples/%s, CSIDriverDeployment %s. Its conditions (pods are simulated):"
            .formatted(file, name));
    var resource =
        client.resources(CSIDriverDeployment.class).inNamespace(namespace).withName(name);
    try (Watch _ = resource.watch(new Conditions(narrator))) {
      client.resource(sample).create();
      await.accept("the driver to be available", () -> says(resource.get(), "Available"));
    }
    List<HasMetadata> objects =
        new Rendering().objects(sample, new ClusterProbe(client).facts(namespace, "none"));
    narrator.say("\nWhat the operator made of the templates:");
    Narrator.Table table = narrator.table(new String[] {"KIND", "NAMESPACE", "NAME"}, 28, 9);
    for (HasMetadata object : objects) {
      String in = object.getMetadata().getNamespace();
      table.row(object.getKind(), in == null ? "-" : in, object.getMetadata().getName());
    }
    await.accept(
        "all objects to be there",
        () -> objects.stream().allMatch(object -> client.resource(object).get() != null));
    narrator.say("\nThe administrator deletes the CSIDriverDeployment.");
    long start = System.nanoTime();
    resource.delete();
    await.accept(
        "all objects to go",
        () -> objects.stream().allMatch(object -> client.resource(object).get() == null));
    narrator.say(
        "All %d objects are gone after %s."
            .formatted(
                objects.size(), Narrator.seconds(Duration.ofNanos(System.nanoTime() - start))));
  }

  private static boolean says(CSIDriverDeployment resource, String condition) {
    return status(resource, condition).equals("True");
  }

  private static String status(CSIDriverDeployment resource, String condition) {
    CSIDriverDeploymentStatus status = resource.getStatus();
    return status.condition(condition).map(DriverCondition::status).orElse("-");
  }

  /** Prints a row whenever a condition moves. */
  private static final class Conditions implements Watcher<CSIDriverDeployment> {

    private final Narrator.Table table;
    private final long start = System.nanoTime();
    private String last = "";

    Conditions(Narrator narrator) {
      table = narrator.table(new String[] {"AFTER", "SYNCED", "AVAILABLE", "MESSAGE"}, 8, 7, 9);
    }

    @Override
    public void eventReceived(Action action, CSIDriverDeployment resource) {
      if (action != Action.ADDED && action != Action.MODIFIED) {
        return;
      }
      String synced = status(resource, DriverCondition.SYNC_SUCCESSFUL);
      String available = status(resource, DriverCondition.AVAILABLE);
      String message =
          resource
              .getStatus()
              .condition(DriverCondition.AVAILABLE)
              .map(condition -> String.valueOf(condition.message()).replace('\n', ' '))
              .orElse("");
      if (!last.equals(synced + available + message)) {
        last = synced + available + message;
        table.row(
            Narrator.seconds(Duration.ofNanos(System.nanoTime() - start)),
            synced,
            available,
            message);
      }
    }

    @Override
    public void onClose(WatcherException cause) {
      // nothing moves any more
    }
  }
}
