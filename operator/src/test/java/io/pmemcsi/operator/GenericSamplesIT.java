package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.testbed.kubernetes.PaperNodes;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The example of the documents and our own samples, as they are. On nodes on paper: the kubelet of
 * hollow nodes knows no hostPath volumes, so that no driver pod ever starts there.
 */
@WithKubernetes(perClass = true)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GenericSamplesIT {

  private Sandbox sandbox;

  @BeforeAll
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    InstalledOperator.install(sandbox).start();
    sandbox.cleanUp(PaperNodes.create(sandbox.cluster(), 2, Map.of()).runPods()::close);
  }

  @ParameterizedTest
  @CsvSource({
    "src/test/resources/resources/generic/documented.yaml,csi-hostpath",
    "../deploy/samples/hostpath.yaml,hostpath",
    "../deploy/samples/nfs.yaml,nfs",
    "../deploy/samples/aws-ebs.yaml,aws-ebs"
  })
  void sampleBecomesAvailableAndGoesAway(Path file, String name) throws IOException {
    var driver = new GenericResource(sandbox.client(), sandbox.namespace(), name);
    createAccount(file, name);

    driver.create(Files.readString(file));

    driver.awaitSynced();
    driver.awaitAvailable();
    driver.delete();
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(driver.objectNames()).isEmpty());
  }

  /** What a sample says has to be there before, in the namespace of the test. */
  private void createAccount(Path sample, String name) throws IOException {
    Path file = sample.resolveSibling("accounts").resolve(name + ".yaml");
    if (Files.exists(file)) {
      String yaml =
          Files.readString(file).replace("namespace: " + name, "namespace: " + sandbox.namespace());
      sandbox
          .client()
          .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
          .items()
          .forEach(sandbox::create);
    }
  }
}
