package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@WithKubernetes(controllers = false)
class WebhookIT {

  private static final Pattern UID = Pattern.compile("\"uid\":\"([^\"]+)\"");

  private final Certificates certificates = new Certificates("webhook");
  private HttpsServer server;

  @BeforeEach
  void startServer() throws IOException, GeneralSecurityException {
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(tls()));
    server.createContext("/", WebhookIT::refuse);
    server.start();
  }

  @AfterEach
  void stopServer() {
    server.stop(0);
  }

  @Test
  void theApiServerCallsAWebhookOfTheTest(Sandbox sandbox, KubernetesClient client) {
    client
        .namespaces()
        .withName(sandbox.namespace())
        .edit(
            namespace ->
                namespace
                    .edit()
                    .editMetadata()
                    .addToLabels("guarded", sandbox.namespace())
                    .endMetadata()
                    .build());
    sandbox.create(configuration(sandbox.namespace()));

    // the API server takes a moment to learn of a new webhook
    await()
        .atMost(Duration.ofMinutes(2))
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> client.resource(settings("a")).create())
                    .hasMessageContaining("nothing is allowed here"));
    try (Sandbox other = sandbox.cluster().newSandbox("unguarded")) {
      assertThatCode(() -> other.client().resource(settings("b")).create())
          .doesNotThrowAnyException();
    }
  }

  private ValidatingWebhookConfiguration configuration(String namespace) {
    return new ValidatingWebhookConfigurationBuilder()
        .withNewMetadata()
        .withName(namespace)
        .endMetadata()
        .addNewWebhook()
        .withName("guard.example.com")
        .withAdmissionReviewVersions("v1")
        .withSideEffects("None")
        .withFailurePolicy("Fail")
        .withNewNamespaceSelector()
        .withMatchLabels(Map.of("guarded", namespace))
        .endNamespaceSelector()
        .withNewClientConfig()
        .withUrl("https://127.0.0.1:" + server.getAddress().getPort() + "/")
        .withCaBundle(
            Base64.getEncoder()
                .encodeToString(certificates.authorityPem().getBytes(StandardCharsets.UTF_8)))
        .endClientConfig()
        .addNewRule()
        .withApiGroups("")
        .withApiVersions("v1")
        .withOperations("CREATE")
        .withResources("configmaps")
        .endRule()
        .endWebhook()
        .build();
  }

  private SSLContext tls() throws GeneralSecurityException, IOException {
    Certificates.Issued issued = certificates.issue("CN=webhook");
    KeyStore keys = KeyStore.getInstance("PKCS12");
    keys.load(null, null);
    keys.setKeyEntry(
        "webhook",
        issued.key().getPrivate(),
        new char[0],
        new X509Certificate[] {issued.certificate()});
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  private static void refuse(HttpExchange exchange) throws IOException {
    String review = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    Matcher uid = UID.matcher(review);
    byte[] answer =
        """
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response":
         {"uid": "%s", "allowed": false, "status": {"message": "nothing is allowed here"}}}
        """
            .formatted(uid.find() ? uid.group(1) : "")
            .getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  private static ConfigMap settings(String name) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).endMetadata().build();
  }
}
