package io.pmemcsi.base.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys in every form in which cfssl, openssl and cert-manager write them. */
class CertificateAndKeyTest {

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out tls.key",
        "openssl ecparam -name prime256v1 -genkey -out tls.key",
        "openssl ecparam -name secp384r1 -genkey -noout -out tls.key",
        "openssl genrsa -out tls.key 2048",
        "openssl genrsa -traditional -out tls.key 2048",
        "openssl genpkey -algorithm ED25519 -out tls.key",
      })
  void keysOfToolsCanBeRead(String command) throws Exception {
    run(command.split(" "));
    run("openssl req -new -x509 -key tls.key -subj /CN=x -days 1 -out tls.crt".split(" "));

    var read = CertificateAndKey.read(directory.resolve("tls.crt"), directory.resolve("tls.key"));

    assertThat(read.chain()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "openssl ecparam -name prime256v1 -genkey -out tls.key",
        "openssl genpkey -algorithm ED25519 -out tls.key",
      })
  void aKeyOfAnotherCertificateIsRefused(String command) throws Exception {
    run(command.split(" "));
    run("openssl req -new -x509 -key tls.key -subj /CN=x -days 1 -out tls.crt".split(" "));
    run(command.split(" "));

    assertThatThrownBy(
            () ->
                CertificateAndKey.read(directory.resolve("tls.crt"), directory.resolve("tls.key")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("does not belong to the certificate");
  }

  @Test
  void aFileWithoutEndIsRefused() {
    assertThatThrownBy(() -> CertificateAndKey.certificates(Path.of("/dev/zero")))
        .isInstanceOf(IOException.class)
        .hasMessage("cannot read /dev/zero: it is larger than 1024 KiB");
  }

  private void run(String... command) throws Exception {
    Process process =
        new ProcessBuilder(List.of(command))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }
}
