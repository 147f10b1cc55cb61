package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.app.settings.DriverProgramSettings;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.driver.registry.CentralSettings;
import io.pmemcsi.driver.registry.NodeInventory;
import io.pmemcsi.driver.registry.NodeRegistrySettings;
import io.pmemcsi.driver.registry.TcpEndpoint;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RegistryFlagsTest {

  private static final TlsFiles OWN =
      new TlsFiles(Path.of("/c/ca.pem"), Path.of("/c/tls.pem"), Path.of("/c/key.pem"));
  private static final String TLS =
      " --caFile=/c/ca.pem --certFile=/c/tls.pem --keyFile=/c/key.pem";

  private final DriverFlags driver = new DriverFlags();
  private final ControllerFlags controller = new ControllerFlags();
  private final RegistryFlags registry = new RegistryFlags();

  private void set(String line) {
    assertThat(
            FlagGroup.parse(
                List.of(line.strip().split(" +", -1)),
                List.of(driver.group(), controller.group(), registry.group())))
        .isTrue();
  }

  private DriverProgramSettings settings() {
    return driver.settings(
        new CliEnvironment(Map.of(), InputStream.nullInputStream(), System.out, System.err));
  }

  @Test
  void withoutRegistryANodeIsOnItsOwn() {
    set("--mode=node --controllerEndpoint=tcp://10.0.0.1:10001");

    assertThat(registry.node(controller)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--mode=node --controllerEndpoint=tcp://h:1 | --controllerEndpoint",
        "--mode=node --clientCertFile=/c --clientKeyFile=/k | --clientCertFile --clientKeyFile",
        "--mode=controller --clientKeyFile=/k | --clientKeyFile",
        "--mode=controller --registryEndpoint=tcp://:1 --controllerEndpoint=tcp://h:1 |"
            + " --controllerEndpoint",
        "--mode=webhooks --registryEndpoint=tcp://:1 --clientCertFile=/c | --registryEndpoint"
            + " --clientCertFile",
        "--mode=force-convert-raw-namespaces --registryEndpoint=tcp://c:1 | --registryEndpoint",
      })
  void flagsWithoutEffectAreKnown(String line, String flags) {
    set(line);

    assertThat(registry.withoutEffect(settings().mode())).containsExactly(flags.split(" ", -1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--mode=node",
        "--mode=node --registryEndpoint=tcp://c:1 --controllerEndpoint=tcp://h:1"
            + " --clientCertFile=/c --clientKeyFile=/k",
        "--mode=controller --registryEndpoint=tcp://:1 --clientCertFile=/c --clientKeyFile=/k",
      })
  void flagsOfCentralProvisioningHaveAnEffect(String line) {
    set(line);

    assertThat(registry.withoutEffect(settings().mode())).isEmpty();
  }

  @Test
  void aNodeUsesOneCertificateForBothDirections() {
    set("--registryEndpoint=tcp://c:10000 --controllerEndpoint=tcp://10.0.0.1:10001" + TLS);

    assertThat(registry.node(controller))
        .contains(
            new NodeRegistrySettings(
                new TcpEndpoint("c", 10000), new TcpEndpoint("10.0.0.1", 10001), OWN, OWN));
  }

  @Test
  void aNodeCanHaveAnotherCertificateForItsRegistration() {
    set(
        "--registryEndpoint=tcp://c:10000 --controllerEndpoint=tcp://10.0.0.1:10001"
            + " --clientCertFile=/c/client.pem --clientKeyFile=/c/client-key.pem"
            + TLS);

    assertThat(registry.node(controller).map(NodeRegistrySettings::client))
        .contains(new TlsFiles(OWN.ca(), Path.of("/c/client.pem"), Path.of("/c/client-key.pem")));
  }

  @Test
  void theControllerIsCentralWithARegistryOnly() {
    set("--mode=controller --registryEndpoint=tcp://0.0.0.0:10000 --deviceManager=direct" + TLS);

    assertThat(registry.isCentral(settings())).isTrue();
    CentralSettings central = registry.controller(settings(), controller, NodeInventory.NONE);
    assertThat(central.registry()).isEqualTo(new TcpEndpoint("0.0.0.0", 10000));
    assertThat(central.server()).isEqualTo(OWN);
    assertThat(central.client()).isEqualTo(OWN);
    assertThat(central.expandable()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"--mode=webhooks --registryEndpoint=tcp://0.0.0.0:10000", "--mode=controller"})
  void otherControllersAreTheSchedulerExtender(String line) {
    set(line);

    assertThat(registry.isCentral(settings())).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--schedulerListen=:8000",
        "--insecureSchedulerListen=:8001",
        "--nodeSelector={\"a\":\"b\"}"
      })
  void aCentralControllerIsNotTheSchedulerExtenderAsWell(String flag) {
    set("--mode=controller --registryEndpoint=tcp://0.0.0.0:10000 " + flag + TLS);

    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> registry.controller(settings(), controller, NodeInventory.NONE))
        .withMessageContaining("run the scheduler extender as a process of its own");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--registryEndpoint=tcp://c:1 | -registryEndpoint needs -controllerEndpoint",
        "--registryEndpoint=c --controllerEndpoint=tcp://h:1 | -registryEndpoint=c: \"c\" is not an"
            + " endpoint: write tcp://host:port",
        "--registryEndpoint=tcp://:1 --controllerEndpoint=tcp://h:1 | -registryEndpoint tcp://:1"
            + " does not name the host",
        "--registryEndpoint=tcp://c:1 --controllerEndpoint=tcp://:1 | -controllerEndpoint tcp://:1"
            + " is sent to the controller: name the address of this node",
        "--registryEndpoint=tcp://c:1 --controllerEndpoint=tcp://h:1 --caFile= | -registryEndpoint"
            + " needs -caFile",
        "--registryEndpoint=tcp://c:1 --controllerEndpoint=tcp://h:1 --clientKeyFile=/k |"
            + " -clientCertFile and -clientKeyFile belong together",
      })
  void whatIsMissingIsNamed(String line, String message) {
    set(TLS + " " + line);

    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> registry.node(controller))
        .withMessageContaining(message);
  }
}
