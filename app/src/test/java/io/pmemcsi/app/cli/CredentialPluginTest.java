package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CredentialPluginTest {

  @ParameterizedTest
  @CsvSource({
    "sh, /no/such:/bin, true",
    "sh, /no/such, false",
    "/bin/sh, '', true",
    "/no/such/plugin, /bin, false",
    "./beside-the-kubeconfig, /bin, true",
  })
  void aPluginIsLookedForWhereAShellLooks(String command, String path, boolean there) {
    assertThat(new CredentialPlugin(command).isThere(path)).isEqualTo(there);
  }
}
