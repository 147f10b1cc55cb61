package io.pmemcsi.demo;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * Takes resources through their life on an in-process Kubernetes API for an operator that runs only
 * for this, so that its JVM records the classes that it needs. Only build/train-aot starts this.
 */
final class OperatorTraining {

  private static final Duration TIMEOUT = Duration.ofMinutes(3);
  private static final Duration POD_START = Duration.ofMillis(100);
  private static final String CERTIFICATE = "server";
  private static final Pattern READY =
      Pattern.compile("\"phase\":\"Running\"|\"reason\":\"Ready\"");

  private OperatorTraining() {}

  /** The arguments are a key store, its password, and the kubeconfig file to write. */
  public static void main(String[] arguments) throws Exception {
    KeyStore keys = keys(Path.of(arguments[0]), arguments[1]);
    try (EmbeddedKubernetes kubernetes = EmbeddedKubernetes.startWithTls(tls(keys, arguments[1]))) {
      String kubeconfig = kubeconfig(kubernetes, keys);
      try (KubernetesClient client =
              new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(kubeconfig)).build();
          SimulatedPods _ = SimulatedPods.start(client, POD_START)) {
        OperatorDemo.install(client);
        createNode(client);
        publish(Path.of(arguments[2]), kubeconfig);
        for (String sample :
            List.of("pmem-csi.yaml", "pmem-csi-controller.yaml", "hostpath.yaml")) {
          liveThrough(client, OperatorDemo.text("/deploy/samples/" + sample));
        }
      }
    }
  }

  private static void liveThrough(KubernetesClient client, String yaml) {
    HasMetadata sample =
        client.getKubernetesSerialization().unmarshal(yaml, GenericKubernetesResource.class);
    if (sample.getMetadata().getNamespace() == null && yaml.contains("CSIDriverDeployment")) {
      sample.getMetadata().setNamespace(OperatorDemo.NAMESPACE);
    }
    HasMetadata created = client.resource(sample).create();
    await(() -> READY.matcher(status(client, created)).find());
    client.resource(created).delete();
    await(() -> client.resource(created).get() == null);
  }

  private static String status(KubernetesClient client, HasMetadata resource) {
    return client.getKubernetesSerialization().asJson(client.resource(resource).get());
  }

  private static void createNode(KubernetesClient client) {
    client
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName("training")
                .withLabels(Map.of("storage", "pmem"))
                .endMetadata()
                .build())
        .create();
  }

  private static void await(BooleanSupplier reached) {
    long end = System.nanoTime() + TIMEOUT.toNanos();
    while (!reached.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException("the operator does not get ready");
      }
      try {
        Thread.sleep(50);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }

  /** A process that waits for the file must not see half of it. */
  private static void publish(Path file, String content) throws IOException {
    Path part = Files.writeString(file.resolveSibling(file.getFileName() + ".part"), content);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private static KeyStore keys(Path file, String password)
      throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, password.toCharArray());
    }
    return keys;
  }

  private static SSLContext tls(KeyStore keys, String password) throws GeneralSecurityException {
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(keys, password.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(factory.getKeyManagers(), null, null);
    return context;
  }

  private static String kubeconfig(EmbeddedKubernetes kubernetes, KeyStore keys)
      throws GeneralSecurityException {
    byte[] certificate = Objects.requireNonNull(keys.getCertificate(CERTIFICATE)).getEncoded();
    String pem =
        "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n"
            .formatted(Base64.getMimeEncoder().encodeToString(certificate));
    return kubernetes
        .kubeconfig()
        .replace(
            "    server: ",
            "    certificate-authority-data: %s\n    server: "
                .formatted(
                    Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.UTF_8))));
  }
}
