package io.pmemcsi.driver.csi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.base.error.UsageException;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointTest {

  @ParameterizedTest
  @ValueSource(strings = {"unix:///csi/csi.sock", "unix:/csi/csi.sock", "/csi/csi.sock"})
  void aSocketCanBeWrittenInSeveralWays(String text) {
    assertThat(Endpoint.parse(text).socket()).isEqualTo(Path.of("/csi/csi.sock"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "tcp://127.0.0.1:1", "csi.sock", "unix://csi.sock"})
  void anInvalidEndpointIsNamedInTheError(String text) {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> Endpoint.parse(text))
        .withMessageContaining("\"" + text + "\"");
  }
}
