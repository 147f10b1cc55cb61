package io.pmemcsi.driver.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TcpEndpointTest {

  @ParameterizedTest
  @ValueSource(strings = {"tcp://10.0.0.1:10001", "tcp://h-controller:10000", "tcp://[fd00::1]:1"})
  void anEndpointIsReadAndWrittenAlike(String text) {
    TcpEndpoint endpoint = TcpEndpoint.parse(text);

    assertThat(endpoint).hasToString(text);
    assertThat(endpoint.isReachable()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp://:10001", "tcp://0.0.0.0:10000", "tcp://[::]:1", "tcp://host:0"})
  void aWildcardAddressIsForListeningOnly(String text) {
    assertThat(TcpEndpoint.parse(text).isReachable()).isFalse();
  }

  @Test
  void theSchemeIsOptional() {
    assertThat(TcpEndpoint.parse("host:1")).isEqualTo(new TcpEndpoint("host", 1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "tcp://", "tcp://host", "unix:///csi.sock", "host:99999"})
  void anInvalidEndpointIsNamedInTheError(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TcpEndpoint.parse(text))
        .withMessage("\"%s\" is not an endpoint: write tcp://host:port", text);
  }
}
