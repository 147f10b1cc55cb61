package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class CertificatesCommandTest {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private boolean terminal;

  @Test
  void printsTheSecretThatTheControllerMounts() throws Exception {
    assertThat(run("--driver=second.example.org", "--namespace=storage", "--name=10.0.0.7"))
        .isZero();

    Secret secret = Serialization.unmarshal(out(), Secret.class);
    assertThat(secret.getMetadata().getName()).isEqualTo("second-example-org-controller-secret");
    assertThat(secret.getMetadata().getNamespace()).isEqualTo("storage");
    assertThat(secret.getType()).isEqualTo("kubernetes.io/tls");
    assertThat(secret.getData()).containsOnlyKeys("ca.crt", "tls.crt", "tls.key");
    X509Certificate certificate = certificate(secret, "tls.crt");
    certificate.verify(certificate(secret, "ca.crt").getPublicKey());
    assertThat(certificate.getSubjectAlternativeNames())
        .extracting(name -> name.get(1))
        .asInstanceOf(InstanceOfAssertFactories.list(Object.class))
        .contains(
            "second-example-org-scheduler.storage.svc",
            "second-example-org-webhook.storage.svc",
            "127.0.0.1",
            "10.0.0.7");
    assertThat(Duration.between(Instant.now(), certificate.getNotAfter().toInstant()).toDays())
        .isBetween(363L, 365L);
    // for the webhook and for the scheduler
    assertThat(out()).contains("# " + secret.getData().get("ca.crt"));
  }

  @Test
  void keepsKeysOffATerminalUnlessAskedTo() {
    terminal = true;

    assertThat(run()).isEqualTo(1);
    assertThat(out()).isEmpty();
    assertThat(run("--show-keys")).isZero();
    assertThat(out()).contains("tls.key");
  }

  private int run(String... arguments) {
    var environment =
        new CliEnvironment(
            Map.of(),
            InputStream.nullInputStream(),
            new PrintStream(out, true, StandardCharsets.UTF_8),
            System.err);
    return new CommandLine(new CertificatesCommand(environment, () -> terminal))
        .setExecutionExceptionHandler((_, _, _) -> 1)
        .execute(List.of(arguments).toArray(String[]::new));
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private static X509Certificate certificate(Secret secret, String key) throws Exception {
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(
                new ByteArrayInputStream(Base64.getDecoder().decode(secret.getData().get(key))));
  }
}
