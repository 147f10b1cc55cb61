package io.pmemcsi.app.taint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the driver reads is limited: its memory is small. */
class PodApiAccessTest {
  @TempDir private Path account;
  private HttpServer server;
  private PodApiAccess api;

  /** Responds with JSON after as many blanks as the path says. */
  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          exchange.sendResponseHeaders(200, 0);
          try (OutputStream out = exchange.getResponseBody()) {
            out.write(
                " ".repeat(Integer.parseInt(path.substring(1))).getBytes(StandardCharsets.UTF_8));
            out.write("{}".getBytes(StandardCharsets.UTF_8));
          } catch (IOException e) {
            // the client has read enough
          }
        });
    server.start();
    api =
        new PodApiAccess(URI.create("http://127.0.0.1:" + server.getAddress().getPort()), account);
    Files.writeString(account.resolve("token"), "token");
    String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    Path store = account.resolve("store");
    run(
        keytool,
        "-genkeypair",
        "-keyalg",
        "EC",
        "-dname",
        "CN=ca",
        "-keystore",
        store.toString(),
        "-storepass",
        "secret");
    run(
        keytool,
        "-exportcert",
        "-rfc",
        "-file",
        account.resolve("ca.crt").toString(),
        "-keystore",
        store.toString(),
        "-storepass",
        "secret");
  }

  private static void run(String... command) throws Exception {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(process.waitFor()).isZero();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  @Test
  void aResponseLargerThanAnyObjectIsRefused() throws IOException {
    assertThat(api.get("/1000000").path("message").asText()).isEmpty();

    assertThatThrownBy(() -> api.get("/5000000")).isInstanceOf(IOException.class);
  }

  @Test
  void aTokenThatIsTooLargeIsRefused() throws IOException {
    try (RandomAccessFile token = new RandomAccessFile(account.resolve("token").toFile(), "rw")) {
      token.setLength(17 << 20);
    }

    assertThatThrownBy(() -> api.get("/0"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("larger than 16 MiB");
  }
}
