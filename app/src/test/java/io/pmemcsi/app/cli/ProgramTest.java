package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.pmemcsi.base.version.Version;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProgramTest {

  private final Map<String, String> environment = new HashMap<>();
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "version",
        "--version",
        "-version",
        "driver -version",
        "driver --version",
        "driver audit --version",
        "operator -version"
      })
  void versionIsPrinted(String line) {
    assertThat(run(line)).isZero();
    assertThat(out()).isEqualTo(Version.current() + "\n");
    assertThat(err()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "--help,operator",
    "help,driver",
    "-h,version",
    "--help,3 out of",
    "driver --help,--pmemPercentage",
    "driver -help,--deviceManager",
    "help driver,--metricsListen",
    "operator -h,--leader-election",
    "operator -h,WATCH_NAMESPACE",
    "operator -h,OPERATOR_NAME",
    "operator -h,TERMINATION_LOG_PATH",
    "driver -h,KUBECONFIG",
    "driver -h,TERMINATION_LOG_PATH",
    "driver -h,ndctl and fake",
    "driver -help=T,--mode",
  })
  void helpIsPrinted(String line, String part) {
    assertThat(run(line)).isZero();
    assertThat(out()).startsWith("Usage: pmem-csi").contains(part);
    assertThat(err()).isEmpty();
  }

  @Test
  void commandsAreListedWithoutGaps() {
    run("--help");
    assertThat(out().substring(out().indexOf("Commands:"), out().indexOf("Called as")).strip())
        .doesNotContain("\n\n");
  }

  @Test
  void helpDoesNotShowRetiredFlags() {
    run("driver --help");

    assertThat(out()).doesNotContain("vmodule", "testEndpoint", "kube-api-qps");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "'' | say what to do: ",
        "drivr | there is no command \"drivr\" (did you mean driver?); see pmem-csi --help",
        "xyzzy | there is no command \"xyzzy\": use ",
        "help xyzzy | Unknown subcommand 'xyzzy'; see pmem-csi --help",
        "--nonsense | there is no flag --nonsense; see pmem-csi --help",
        "driver -mod=node | there is no flag --mod=node (did you mean --mode?); see pmem-csi driver"
            + " --help",
        "driver extra | there is no command \"extra\": use audit; see pmem-csi driver --help",
        "version extra | \"extra\" is one argument too many; see pmem-csi version --help",
        "driver -v | Missing required parameter for option '--v' (LEVEL); see pmem-csi driver"
            + " --help",
        "driver -v=loud | -v=loud: a log level is a number, 3 for production",
        "driver -v=-1 | -v=-1: log level -1 is negative",
        "driver -logging-format=xml | -logging-format=xml is unknown: use text or json",
        "driver -mode=nope | -mode=nope is unknown: use node or controller or webhooks or"
            + " force-convert-raw-namespaces",
        "driver -pmemPercentage=half | -pmemPercentage=half: not a whole number",
        "driver -pmemPercentage=5 -pmemPercentage=101 | -pmemPercentage=101 is outside",
        "operator -leader-election=maybe | -leader-election=maybe: write true or false",
        "operator -image=a\tb | -image=a\tb: not an image name: write a name such as",
        "render -f /dev/zero | /dev/zero cannot be read: it is larger than 16 MiB; name another"
            + " file",
        "operator -metrics-addr=8080 | -metrics-addr=8080: \"8080\" is no address to listen on",
        "render | say which resource: write -f and a file or directory, or -f - for standard input",
        "render --bogus | there is no flag --bogus; see pmem-csi render --help",
        "render r.yaml | \"r.yaml\" is one argument too many: write -f before each file; see"
            + " pmem-csi render --help",
        "render @/tmp | \"@/tmp\" is one argument too many: write -f before each file; see",
        "@/tmp | there is no command \"@/tmp\": use ",
        "render -f @/no/such | @/no/such does not exist: name a file with a resource",
        "render -f a.yaml b.yaml | \"b.yaml\" is one argument too many: write -f before each file",
        "render -f - -f - | -f - is given twice: standard input can be read only once",
        "render --filename= | -f is empty: name a file or directory with resources",
        "render -f - -n Bad_Name | --namespace=Bad_Name: not the name of a namespace: use up to",
        "render -f - --image= | --image=: not an image name: write a name such as",
        "diff | say which resource: write -f and a file or directory, or -f - for standard input",
        "diff --bogus | there is no flag --bogus; see pmem-csi diff --help",
        "diff r.yaml | \"r.yaml\" is one argument too many: write -f before each file; see pmem-csi"
            + " diff --help",
        "diff -f ../deploy/samples/pmem-csi.yaml -n Bad_Name | --namespace=Bad_Name: not the name"
            + " of",
        "diff -f ../deploy/samples/pmem-csi.yaml --image= | --image=: not an image name",
      })
  void aWrongCommandLineIsOneLineAndExitCodeTwo(String line, String message) {
    assertThat(run(line)).isEqualTo(2);
    assertThat(err()).startsWith("pmem-csi: " + message);
    assertThat(err().lines()).hasSize(1);
    assertThat(out()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "driver -statePath=",
        "driver -endpoint=",
        "operator -config=",
        "operator -kubeconfig=",
        "diff -f ../deploy/samples/pmem-csi.yaml -config=",
        "render -f ",
      })
  void aNameThatNoFileCanHaveIsOneLineAndExitCodeTwo(String line) {
    // in the locale C every letter with an accent is such a character, in every locale this one is
    assertThat(run(line + "/\0")).isEqualTo(2);
    assertThat(err())
        .contains("it has a character that no path can have in this locale: set LC_ALL=C.UTF-8")
        .hasLineCount(1);
  }

  /** Callers name it by the same variable. */
  static Stream<String> thoseThatTalkToACluster() {
    return Stream.of(
        "operator -v=0 -image=i",
        "diff -f ../deploy/samples/pmem-csi.yaml",
        "driver -v=0 -mode=force-convert-raw-namespaces");
  }

  @ParameterizedTest
  @MethodSource("thoseThatTalkToACluster")
  void aBrokenKubeconfigIsNamedOnceAndEndsEveryCommandAlike(String command, @TempDir Path directory)
      throws Exception {
    Path broken = Files.writeString(directory.resolve("broken"), "a: [1\nb: 2\n");
    Path pod = Files.writeString(directory.resolve("pod"), "apiVersion: v1\nkind: Pod\n");
    Path empty = Files.createFile(directory.resolve("empty"));
    Path text = Files.writeString(directory.resolve("text"), "127.0.0.1\n");
    Path binary = Files.write(directory.resolve("binary"), new byte[] {(byte) 0xff, 0});
    String good = Files.readString(kubeconfig(directory, "https://127.0.0.1:1", ""));
    Path lost =
        Files.writeString(
            directory.resolve("lost"),
            good.replaceAll("current-context: .*", "current-context: gone"));
    Path stranger =
        kubeconfig(directory, "https://127.0.0.1:1", "certificate-authority: /no/such/ca");
    Map<String, String> mistakes =
        Map.of(
            "/no/such/file",
            " does not exist: name another one with --kubeconfig or KUBECONFIG\n",
            directory.toString(),
            " is a directory: name a file in it\n",
            // nothing is mapped at address 0, so that even root cannot read it
            "/proc/self/mem",
            " cannot be read: Input/output error; name another file\n",
            broken.toString(),
            ": line 2 is no YAML: expected ',' or ']', but got :\n",
            pod.toString(),
            ": it is a Pod, not a Config: name a file like ~/.kube/config\n",
            empty.toString(),
            " is empty: it should have apiVersion, kind, clusters, users and contexts\n",
            text.toString(),
            ", document 1 is no kubeconfig: it should have apiVersion, kind, clusters, users and"
                + " contexts\n",
            binary.toString(),
            " is no text in UTF-8: save it as such, or name another file\n",
            lost.toString(),
            ": current-context \"gone\" is not among its contexts [x]: choose one of them\n",
            stranger.toString(),
            " cannot be used: /no/such/ca: no such file or directory; correct it or name another"
                + " file with --kubeconfig or KUBECONFIG\n");

    assertRefused(command, mistakes);
    assertRefused(
        command,
        Map.of("/dev/zero", " cannot be read: it is larger than 16 MiB; name another file\n"));
  }

  /** A client would go on, and look for a server by a name that only pods know. */
  @ParameterizedTest
  @MethodSource("thoseThatTalkToACluster")
  void whereNoClusterIsNamedNoneIsLookedFor(String command, @TempDir Path home) {
    environment.put("HOME", home.toString());

    assertThat(run(command)).isEqualTo(2);
    assertThat(err())
        .isEqualTo(
            "pmem-csi: no cluster is named: this is no pod, and there is no ~/.kube/config; name a"
                + " file with --kubeconfig or KUBECONFIG\n");
  }

  /** A client would go on, with the cluster of a pod that it is not in, or without an identity. */
  @ParameterizedTest
  @MethodSource("thoseThatTalkToACluster")
  void aKubeconfigWithoutClusterOrUserIsRefused(String command, @TempDir Path directory)
      throws Exception {
    String good = Files.readString(kubeconfig(directory, "https://127.0.0.1:1", ""));
    Map<String, String> mistakes = new HashMap<>();
    Map.of(
            good.replace("cluster: c,", "cluster: gone,"),
            "the cluster \"gone\" of context \"x\" is not among its clusters [c]: name one of them",
            good.replace("{cluster: c, user: u}", "{}"),
            "the cluster \"\" of context \"x\" is not among its clusters [c]: name one of them",
            good.replace("server: https://127.0.0.1:1", "server: ''"),
            "cluster \"c\" has no server: write an address like https://192.0.2.1:6443",
            good.replace("server: https://127.0.0.1:1", ""),
            "cluster \"c\" has no server: write an address like https://192.0.2.1:6443",
            good.replace("user: u}", "user: gone}"),
            "the user \"gone\" of context \"x\" is not among its users [u]: name one of them",
            good.replace("user: {}", "user: {exec: {command: /no/such/plugin}}"),
            "user \"u\" has credentials from the program /no/such/plugin, which is not there:"
                + " install it, or choose another user",
            good.replace("contexts:\n", "contexts:\n-\n"),
            "its list of contexts has an empty entry: take it out",
            good.replace("users:\n- name: u\n", "users:\n"),
            "a field has the wrong type: write contexts, clusters and users as kubectl does",
            "apiVersion: v1\nkind: Config\ncontexts: foo\ncurrent-context: x\n",
            "a field has the wrong type: write contexts, clusters and users as kubectl does",
            "apiVersion: v1\nkind: Config\ncontexts:\n",
            "it has no current-context: choose one with kubectl config use-context")
        .forEach(
            (content, message) -> {
              Path file = directory.resolve("mistake-" + mistakes.size());
              write(file, content);
              mistakes.put(file.toString(), ": " + message + "\n");
            });

    assertRefused(command, mistakes);
  }

  private void assertRefused(String command, Map<String, String> messages) {
    messages.forEach(
        (file, message) -> {
          err.reset();
          environment.put("KUBECONFIG", file);
          assertThat(run(command)).as(file).isEqualTo(2);
          assertThat(err()).isEqualTo("pmem-csi: kubeconfig " + file + message);
        });
    assertThat(out()).isEmpty();
  }

  private static void write(Path file, String content) {
    try {
      Files.writeString(file, content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aServerThatDoesNotAnswerIsNamed(@TempDir Path directory) throws Exception {
    Path file = kubeconfig(directory, "http://127.0.0.1:1", "");

    assertThat(run("operator -v=0 -image=i --kubeconfig=" + file)).isEqualTo(1);
    assertThat(err())
        .isEqualTo(
            "pmem-csi: cannot reach the API server http://127.0.0.1:1/: no connection; check"
                + " --kubeconfig and that the server runs\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"major\": \"one\", \"minor\": \"x\"} | major \"one\" and minor \"x\"",
        "{\"major\": \"1\", \"minor\": \"123456789\"} | major \"1\" and minor \"123456789\"",
        "{\"name\": \"something else\"} | major \"null\" and minor \"null\"",
      })
  void aServerThatIsNoKubernetesIsNamedWithWhatItSaid(
      String answer, String said, @TempDir Path directory) throws Exception {
    byte[] body = answer.getBytes(StandardCharsets.UTF_8);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try {
      String url = "http://localhost:" + server.getAddress().getPort();
      String cluster = " --image=i --kubeconfig=" + kubeconfig(directory, url, "");
      String message =
          "pmem-csi: the API server %s/ reports version %s, which is no Kubernetes version: check"
                  .formatted(url, said)
              + " --kubeconfig or KUBECONFIG, and which server that is\n";

      assertThat(run("operator -v=0" + cluster)).isEqualTo(1);
      assertThat(err()).isEqualTo(message);
      err.reset();
      assertThat(run("diff -f ../deploy/samples/pmem-csi.yaml" + cluster)).isEqualTo(2);
      assertThat(err()).isEqualTo(message);
    } finally {
      server.stop(0);
    }
  }

  @Test
  void theUsualKubeconfigIsCheckedToo(@TempDir Path home) throws Exception {
    Path file = Files.createDirectory(home.resolve(".kube")).resolve("config");
    Files.writeString(file, "apiVersion: v1\nkind: Pod\n");
    environment.put("HOME", home.toString());

    assertThat(run("operator -v=0 -image=i")).isEqualTo(2);
    assertThat(err()).startsWith("pmem-csi: kubeconfig " + file + ": it is a Pod").hasLineCount(1);
  }

  @Test
  void aListOfKubeconfigsIsRefused() {
    environment.put("KUBECONFIG", "/a:/b");

    assertThat(run("operator -v=0 -image=i")).isEqualTo(2);
    assertThat(err())
        .startsWith("pmem-csi: KUBECONFIG=/a:/b names 2 files: name one only")
        .hasLineCount(1);
  }

  /** As of {@code --kubeconfig <(make-one)}: it can be read only once. */
  @ParameterizedTest
  @CsvSource({"operator -v=0 -image=i,1", "diff -f ../deploy/samples/pmem-csi.yaml,2"})
  void aKubeconfigMayComeOutOfAPipe(String command, int code, @TempDir Path directory)
      throws Exception {
    Path file = kubeconfig(directory, "http://127.0.0.1:1", "");
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Process writer =
        new ProcessBuilder("sh", "-c", "cat \"$0\" > \"$1\"", file.toString(), pipe.toString())
            .start();
    try {
      assertThat(run(command + " --kubeconfig=" + pipe)).isEqualTo(code);
      assertThat(err())
          .startsWith("pmem-csi: ")
          .contains("API server http://127.0.0.1:1/", "no connection")
          .hasLineCount(1);
    } finally {
      writer.destroyForcibly();
    }
  }

  @Test
  void pathsInAKubeconfigCountFromItsDirectory(@TempDir Path directory) throws Exception {
    Path file = kubeconfig(directory, "https://127.0.0.1:1", "certificate-authority: ca/none.pem");

    assertThat(run("operator -v=0 -image=i --kubeconfig=" + file)).isEqualTo(2);
    assertThat(err())
        .startsWith("pmem-csi: kubeconfig %s cannot be used: ".formatted(file))
        .contains(directory.resolve("ca/none.pem") + ": no such file or directory")
        .hasLineCount(1);
  }

  private static Path kubeconfig(Path directory, String server, String more) throws IOException {
    return Files.writeString(
        directory.resolve("kubeconfig"),
        """
        apiVersion: v1
        kind: Config
        clusters:
        - name: c
          cluster:
            server: %s
            %s
        users:
        - name: u
          user: {}
        contexts:
        - name: x
          context: {cluster: c, user: u}
        current-context: x
        """
            .formatted(server, more));
  }

  /**
   * Of all releases, so that no deployment has to change its arguments before it can try this one.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "drivername=pmem-csi.intel.com",
        "nodeid=n",
        "endpoint=unix:///tmp/pmem-csi.sock",
        "mode=controller",
        "registryEndpoint=tcp://pmem-csi-controller:10000",
        "controllerEndpoint=tcp://:10001",
        "testEndpoint",
        "testEndpoint=true",
        "caFile=ca.pem",
        "certFile=pmem-registry.pem",
        "keyFile=pmem-registry-key.pem",
        "clientCertFile=client.pem",
        "clientKeyFile=client-key.pem",
        "deviceManager=lvm",
        "deviceManager=direct",
        "deviceManager=ndctl",
        "deviceManager=fake",
        "statePath=/var/lib/pmem-csi.intel.com",
        "pmemPercentage=100",
        "schedulerListen=:8000",
        "insecureSchedulerListen=:8001",
        "nodeSelector={\"storage\":\"pmem\"}",
        "metricsListen=:10010",
        "metricsPath=/metrics",
        "kube-api-qps=5",
        "kube-api-burst=10",
        "logging-format=text",
        "logging-format=json",
        "v=0",
        "vmodule=main=5",
        "logtostderr",
        "logtostderr=true",
        "alsologtostderr=1",
        "stderrthreshold=2",
        "log_dir=/tmp",
        "log_file=/tmp/log",
        "log_file_max_size=1",
        "log_backtrace_at=main.go:1",
        "skip_headers=true",
        "skip_log_headers=true",
        "add_dir_header=true",
        "one_output=true"
      })
  void everyDocumentedFlagOfTheDriverIsTakenInBothSpellings(String flag) {
    for (String dashes : List.of("-", "--")) {
      err.reset();
      assertThat(run("driver -mode=webhooks -v=0 " + dashes + flag)).as(dashes + flag).isEqualTo(2);
      assertThat(err()).startsWith("pmem-csi: POD_NAMESPACE is not set");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"webhooks", "controller"})
  void aControllerThatLacksSomethingSaysSo(String mode) {
    assertThat(run("driver -v=0 -schedulerListen=:0 -mode=" + mode)).isEqualTo(2);
    assertThat(err()).startsWith("pmem-csi: POD_NAMESPACE is not set").hasLineCount(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "driver audit -deviceManager=file -statePath=/no/such | failed to audit: directory"
            + " /no/such does not exist: name",
        "driver -v=0 -deviceManager=file -statePath=/no/such/state -endpoint=unix:///no/such.sock |"
            + " failed to initialize driver: directory /no/such does not exist: create it",
        "driver -v=0 -deviceManager=file -statePath=/proc/x -endpoint=unix:///no/such.sock |"
            + " failed to initialize driver: cannot create the state directory /proc/x: ",
        "driver -v=0 -deviceManager=file -statePath=/dev/null -endpoint=unix:///no/such.sock |"
            + " failed to initialize driver: cannot create the state directory /dev/null: something"
            + " else is there; name another one with",
      })
  void aStateDirectoryThatCannotBeIsOneLineAndExitCodeOne(String line, String message) {
    assertThat(run(line)).isEqualTo(1);
    assertThat(err()).startsWith("pmem-csi: " + message).contains("-statePath").hasLineCount(1);
    assertThat(err()).doesNotContain("Exception");
    assertThat(out()).isEmpty();
  }

  /** Its exit code 1 says that there are differences. */
  @Test
  void whatIsWrongForADiffIsOneLineAndExitCodeTwo(@TempDir Path directory) throws IOException {
    Path pod = Files.writeString(directory.resolve("pod.yaml"), "apiVersion: v1\nkind: Pod\n");
    String diff = "diff -f ../deploy/samples/pmem-csi.yaml ";
    Map<String, String> mistakes =
        Map.of(
            diff + "--nonsense",
            "there is no flag --nonsense; see pmem-csi diff --help",
            "diff -f /no/such",
            "/no/such does not exist: name a file",
            "diff -f " + pod,
            pod + ", document 1: v1 Pod is not a kind",
            diff + "-f " + pod,
            pod + ", document 1: v1 Pod is not a kind",
            diff + "--kubeconfig=/no/such",
            "kubeconfig /no/such does not exist: name another",
            diff + "--config=/no/such",
            "configuration file /no/such cannot be read: no such file or directory; correct"
                + " --config",
            diff + "--kubeconfig=" + kubeconfig(directory, "http://127.0.0.1:1", ""),
            "the API server http://127.0.0.1:1/ refuses or cannot be reached: no connection;"
                + " check");
    mistakes.forEach(
        (line, message) -> {
          err.reset();
          assertThat(run(line)).as(line).isEqualTo(2);
          assertThat(err()).as(line).startsWith("pmem-csi: " + message).hasLineCount(1);
        });
    assertThat(out()).isEmpty();
  }

  @Test
  void operatorEndsWithAMistakeInItsConfiguration(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("config.yaml"), "replicas: 2\n");
    environment.put("KUBERNETES_SERVICE_HOST", "192.0.2.1");

    assertThat(run("operator --config=" + file)).isEqualTo(1);
    assertThat(err()).contains(file.toString(), "replicas: is not a key").hasLineCount(1);
    assertThat(out()).isEmpty();
  }

  @Test
  void aMissingConfigurationIsNamedWithTheReason() {
    environment.put("KUBERNETES_SERVICE_HOST", "192.0.2.1");

    assertThat(run("operator --config=/no/such")).isEqualTo(1);
    assertThat(err())
        .isEqualTo(
            "pmem-csi: configuration file /no/such cannot be read: no such file or directory;"
                + " correct --config or leave it out\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"driver -mod=node", "driver -mode=nope", "operator -v=loud"})
  void aWrongFlagReachesTheTerminationLog(String line, @TempDir Path directory) throws IOException {
    Path log = directory.resolve("termination-log");
    environment.put("TERMINATION_LOG_PATH", log.toString());

    assertThat(run(line)).isEqualTo(2);
    assertThat("pmem-csi: " + Files.readString(log)).isEqualTo(err());
  }

  private int run(String line) {
    List<String> arguments = line.isEmpty() ? List.of() : Arrays.asList(line.split(" ", -1));
    return Program.run(
        arguments,
        new CliEnvironment(
            environment,
            new ByteArrayInputStream(new byte[0]),
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8)));
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }
}
