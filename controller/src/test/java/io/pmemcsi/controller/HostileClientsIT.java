package io.pmemcsi.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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
  void start() throws IOException {
    world = new SchedulingWorld(directory);
    tls = world.certificate.client();
    port = ControllerProcess.freePort();
    controller = ControllerProcess.start(world, port, productionOptions());
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

  private void assertAnswersOthers() throws IOException {
    String body = request("", "", "\"a\"");
    byte[] bytes = (head(body.length()) + body).getBytes(StandardCharsets.US_ASCII);
    for (int i = 0; i < 5; i++) {
      assertThat(send(bytes)).startsWith("HTTP/1.1 200");
    }
    assertThat(controller.isAlive()).isTrue();
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
