package io.pmemcsi.demo;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.tools.render.Rendering;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/**
 * Any CSI driver from pod templates, from the sample to its deletion.
 *
 * @param await waits for a condition
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
    var table =
        new StatusTable<>(
            narrator.table(new String[] {"AFTER", "SYNCED", "AVAILABLE", "MESSAGE"}, 8, 7, 9),
            TemplateDriver::conditions,
            row -> row.get(1).equals("True"));
    try (Watch _ = resource.watch(table)) {
      client.resource(sample).create();
      await.accept("the driver to be available", table::isComplete);
    }
    List<HasMetadata> objects =
        new Rendering().objects(sample, new ClusterProbe(client).facts(namespace, "none"));
    narrator.say("\nThe objects that the operator created from the templates:");
    Narrator.Table created = narrator.table(new String[] {"KIND", "NAMESPACE", "NAME"}, 28, 9);
    for (HasMetadata object : objects) {
      String in = object.getMetadata().getNamespace();
      created.row(object.getKind(), in == null ? "-" : in, object.getMetadata().getName());
    }
    await.accept(
        "all objects to exist",
        () -> objects.stream().allMatch(object -> client.resource(object).get() != null));
    narrator.say("\nThe administrator deletes the CSIDriverDeployment.");
    long start = System.nanoTime();
    resource.delete();
    await.accept(
        "all objects to be deleted",
        () -> objects.stream().allMatch(object -> client.resource(object).get() == null));
    narrator.say(
        "All %d objects were deleted after %s."
            .formatted(
                objects.size(), Narrator.seconds(Duration.ofNanos(System.nanoTime() - start))));
  }

  private static List<String> conditions(CSIDriverDeployment resource) {
    CSIDriverDeploymentStatus status = resource.getStatus();
    return List.of(
        status.condition(DriverCondition.SYNC_SUCCESSFUL).map(DriverCondition::status).orElse("-"),
        status.condition(DriverCondition.AVAILABLE).map(DriverCondition::status).orElse("-"),
        status
            .condition(DriverCondition.AVAILABLE)
            .map(condition -> String.valueOf(condition.message()).replace('\n', ' '))
            .orElse(""));
  }
}
