package io.pmemcsi.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The port of the controller is open to every pod of the cluster. Whatever clients send, the
 * process with the memory that it has in production stays up and answers others.
 */
class HostileClientsIT {

  private static final Duration WEBHOOK_LIMIT = Duration.ofSeconds(1);

  /** For which kube-scheduler waits. */
  private static final Duration EXTENDER_LIMIT = Duration.ofSeconds(5);

  private static final Duration START_LIMIT = Duration.ofMinutes(1);
  private static final int TIMEOUT_MILLIS = 20_000;
  private static final int MAX_BODY = 4 << 20;
  private static final String VOLUME =
      """
      {"name": "v", "csi": {"driver": "%s", "volumeAttributes": {"size": "1Gi"}}}\
      """;

  @TempDir Path directory;
  private final ConcurrentLinkedQueue<Socket> held = new ConcurrentLinkedQueue<>();
  private SchedulingWorld world;
  private SSLContext tls;
  private ChildProcess controller;
  private int port;

  @BeforeEach
  void start() throws Exception {
    world = new SchedulingWorld(directory);
    tls = world.certificate.client();
    port = ControllerProcess.freePort();
    controller = ControllerProcess.start(world, port, productionOptions());
    // the first call of this client itself takes longer
    assertThat(post("/pod/mutate", review(), START_LIMIT)).isEqualTo(200);
  }

  @AfterEach
  void stop() throws IOException {
    for (Socket socket : held) {
      socket.close();
    }
    controller.close();
    world.close();
  }

  @Test
  void bodiesThatDoNotComeKeepNobodyWaiting() throws Exception {
    hold(30, _ -> head(MAX_BODY) + "{");
    assertAnswersOthers();

    hold(8, _ -> head(MAX_BODY) + " ".repeat(MAX_BODY - 1));
    assertAnswersOthers();
  }

  @Test
  void unfinishedHandshakesKeepNobodyWaiting() throws Exception {
    for (int i = 0; i < 700; i++) {
      var socket = new Socket(InetAddress.getLoopbackAddress(), port);
      held.add(socket);
      socket.getOutputStream().write(new byte[] {0x16, 0x03, 0x01});
    }

    assertAnswersOthers();
  }

  /** If each were a label of a metric, all of them together would not fit into the memory. */
  @Test
  void methodsThatDoNotExistEndNothing() throws Exception {
    inParallel(
        8,
        connection -> {
          try (Socket socket = connect()) {
            for (int i = 0; i < 1000; i++) {
              String method = "M%d-%d-".formatted(connection, i) + "x".repeat(8 << 10);
              socket
                  .getOutputStream()
                  .write(
                      "%s /filter HTTP/1.1\r\nHost: x\r\n\r\n"
                          .formatted(method)
                          .getBytes(StandardCharsets.US_ASCII));
              skipResponse(socket.getInputStream());
            }
          } catch (IOException e) {
            // the controller may close it
          }
          return "";
        });

    assertAnswersOthers();
  }

  @Test
  void bodiesOfManySmallPartsEndNothing() throws Exception {
    String volume = VOLUME.formatted(world.driver);
    String names =
        IntStream.range(0, MAX_BODY / 9)
            .mapToObj("\"%06x\""::formatted)
            .collect(Collectors.joining(","));
    String labels =
        IntStream.range(0, MAX_BODY / 13)
            .mapToObj("\"%06x\":\"\""::formatted)
            .collect(Collectors.joining(","));
    for (String body :
        List.of(
            request("", volume, names.substring(0, names.lastIndexOf(',', MAX_BODY - 300))),
            request("", volume, "\"\",".repeat((MAX_BODY - 300) / 3) + "\"\""),
            request("", volume, names.substring(0, 10_000 * 9 - 1)),
            request(labels.substring(0, labels.lastIndexOf(',', MAX_BODY - 300)), volume, "\"a\""),
            request("", "{},".repeat((MAX_BODY - 300) / 3) + "{}", "\"a\""),
            request("", "{\"csi\":{}},".repeat((MAX_BODY - 300) / 11) + "{}", "\"a\""))) {
      byte[] bytes = (head(body.length()) + body).getBytes(StandardCharsets.US_ASCII);
      inParallel(6, _ -> send(bytes));
      assertAnswersOthers();
    }
  }

  @Test
  void unfinishedHeadersEndNothing() throws Exception {
    hold(700, _ -> "POST /filter HTTP/1.1\r\nHost: x\r\n");
    assertAnswersOthers();

    hold(200, _ -> "POST /filter HTTP/1.1\r\nHost: x\r\nX-Filler: " + "x".repeat(31 << 10));
    assertAnswersOthers();

    hold(50, _ -> "POST /filter HTTP/1.1\r\nHost: x\r\nX-Filler: " + "x".repeat(1 << 20));
    assertAnswersOthers();
  }

  @Test
  void answersThatNobodyReadsEndNothing() throws Exception {
    String names =
        IntStream.range(0, 10_000)
            .mapToObj("\"node-%06x\""::formatted)
            .collect(Collectors.joining(","));
    String body = request("", VOLUME.formatted(world.driver), names);
    hold(200, _ -> head(body.length()) + body);

    assertAnswersOthers();
  }

  /** The API server waits for two seconds, and refuses the pod then if the webhook must answer. */
  private void assertAnswersOthers() throws Exception {
    for (int i = 0; i < 5; i++) {
      assertThat(post("/pod/mutate", review(), WEBHOOK_LIMIT)).isEqualTo(200);
      assertThat(post("/filter", request("", "", "\"a\""), EXTENDER_LIMIT)).isEqualTo(200);
    }
    assertThat(controller.isAlive()).isTrue();
  }

  /** The status of the answer, over a connection of its own; fails after the limit. */
  private int post(String path, String body, Duration limit) throws Exception {
    try (HttpClient client =
        HttpClient.newBuilder().sslContext(tls).version(HttpClient.Version.HTTP_1_1).build()) {
      return client
          .send(
              HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path))
                  .timeout(limit)
                  .POST(BodyPublishers.ofString(body))
                  .build(),
              BodyHandlers.ofString())
          .statusCode();
    }
  }

  private String review() {
    return """
    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
      "uid": "1", "namespace": "default", "object": {"metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "main", "image": "registry.example/app:1"}],
        "volumes": [%s]}}}}\
    """
        .formatted(VOLUME.formatted(world.driver));
  }

  private static void skipResponse(InputStream in) throws IOException {
    var head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int c = in.read();
      if (c < 0) {
        throw new IOException("the controller closed the connection");
      }
      head.append((char) c);
    }
    Matcher length = Pattern.compile("(?i)content-length: *(\\d+)").matcher(head);
    in.skipNBytes(length.find() ? Long.parseLong(length.group(1)) : 0);
  }

  /** Connections that send something and then nothing. */
  private void hold(int count, IntFunction<String> text) throws Exception {
    inParallel(
        count,
        i -> {
          try {
            Socket socket = connect();
            held.add(socket);
            socket.getOutputStream().write(text.apply(i).getBytes(StandardCharsets.US_ASCII));
          } catch (IOException e) {
            // the controller may close it
          }
          return "";
        });
  }

  private static void inParallel(int count, IntFunction<String> action) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(Math.min(count, 32))) {
      var all = new ArrayList<Future<?>>();
      for (int i = 0; i < count; i++) {
        int number = i;
        all.add(threads.submit(() -> action.apply(number)));
      }
      for (var one : all) {
        one.get();
      }
    }
  }

  /** The beginning of the answer; empty if the controller closes the connection. */
  private String send(byte[] bytes) {
    try (Socket socket = connect()) {
      socket.getOutputStream().write(bytes);
      return new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
    } catch (IOException e) {
      return "";
    }
  }

  private Socket connect() throws IOException {
    Socket socket = tls.getSocketFactory().createSocket("127.0.0.1", port);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    return socket;
  }

  private static String head(int length) {
    return "POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n".formatted(length);
  }

  private static String request(String labels, String volumes, String names) {
    return """
    {"Pod": {"metadata": {"name": "p", "labels": {%s}}, "spec": {"volumes": [%s]}},\
     "NodeNames": [%s]}\
    """
        .formatted(labels, volumes, names);
  }

  /** The options of the launcher for the controller. */
  private static List<String> productionOptions() throws IOException {
    String launcher = Files.readString(Path.of("../bin/pmem-csi"));
    var options = new ArrayList<String>();
    for (String pattern :
        List.of(
            "(?m)^common=\"(.*)\"$",
            "(?m)^  controller\\)\n    options=\"(.*)\"$",
            "(?m)^  controller\\)\n.*\n    options=\"\\$options (.*)\"$")) {
      Matcher matcher = Pattern.compile(pattern).matcher(launcher);
      assertThat(matcher.find()).as("%s in the launcher", pattern).isTrue();
      options.addAll(List.of(matcher.group(1).split(" ")));
    }
    assertThat(options).anyMatch(option -> option.startsWith("-Xmx"));
    return options;
  }
}
