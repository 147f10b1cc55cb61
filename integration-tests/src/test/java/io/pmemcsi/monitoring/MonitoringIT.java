package io.pmemcsi.monitoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.pmemcsi.guide.Page;
import io.pmemcsi.standin.DriverClient;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.kubernetes.FreePorts;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.NodeList;

/** A real Prometheus reads a real operator and a real driver. */
class MonitoringIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path FILES = ROOT.resolve("deploy/monitoring");
  private static final Path PICTURE_FILE = ROOT.resolve("docs/images/dashboard.svg");
  private static final Duration START = Duration.ofMinutes(2);

  /** A finding counts when two audits, a minute apart, report it. */
  private static final Duration AUDITED = Duration.ofMinutes(4);

  /** Device mode file removes files instead of erasing them, and no reconciliation fails. */
  private static final List<String> WITHOUT_DATA =
      List.of("pmem_csi_erase_progress_ratio", "pmem_csi_operator_reconcile_errors_total");

  /** How much time the picture in the documentation shows. */
  private static final Duration PICTURE = Duration.ofMinutes(3);

  private static final Duration STEP = Duration.ofSeconds(1);
  private static final boolean GENERATE = Boolean.getBoolean("pmem-csi.generate");

  @TempDir private Path directory;
  private final Deque<ChildProcess> processes = new ArrayDeque<>();
  private final HttpClient http = HttpClient.newHttpClient();

  @AfterEach
  void end() {
    processes.forEach(ChildProcess::close);
    http.close();
  }

  @Test
  void alertsFireWhereTheyShould() throws Exception {
    Path promtool = programs().resolve("promtool");

    assertThat(run(promtool.toString(), "check", "rules", FILES.resolve("rules.yaml").toString()))
        .contains("SUCCESS");
    assertThat(
            run(promtool.toString(), "test", "rules", FILES.resolve("rules-test.yaml").toString()))
        .contains("SUCCESS");
  }

  /** The Prometheus operator reads the same rules from an object. */
  @Test
  void theObjectHasTheSameRules() throws IOException {
    Map<?, ?> rules = Serialization.unmarshal(text("rules.yaml"), Map.class);
    Map<?, ?> object = Serialization.unmarshal(text("prometheusrule.yaml"), Map.class);

    assertThat(object.get("spec")).isEqualTo(rules);
  }

  /** Debian builds Prometheus without the discovery of pods: all but that is checked. */
  @Test
  void scrapeConfigurationIsAccepted() throws Exception {
    Path file = directory.resolve("prometheus.yml");
    Files.writeString(file, "scrape_configs:\n" + jobs("static_configs: []"));

    assertThat(run(programs().resolve("promtool").toString(), "check", "config", file.toString()))
        .contains("SUCCESS");
  }

  /** Containers are found by the names of their ports. */
  @Test
  void scrapeConfigurationFindsEveryMetricsPort() throws IOException {
    Matcher port =
        Pattern.compile("port_name]\\n *regex: (\\S+)")
            .matcher(Files.readString(ROOT.resolve("deploy/prometheus.yaml")));
    assertThat(port.find()).isTrue();

    for (String mode : List.of("lvm", "direct", "file")) {
      String driver =
          Files.readString(ROOT.resolve("deploy/kubernetes-1.34/pmem-csi-%s.yaml".formatted(mode)));
      assertThat(
              Pattern.compile("(?m)- name: (\\S*metrics\\S*)$")
                  .matcher(driver)
                  .results()
                  .map(name -> name.group(1)))
          .hasSizeGreaterThan(1)
          .allMatch(name -> name.matches(port.group(1)));
    }
  }

  @Test
  @WithKubernetes(controllers = false)
  void everyPanelHasDataAndEveryRuleCanBeEvaluated(Sandbox sandbox) throws Exception {
    List<Integer> drivers = List.of(startDriver("node-1", 25), startDriver("node-2", 20));
    int operator = startOperator(sandbox);
    resource(sandbox, "monitored-0", 3);
    URI prometheus = startPrometheus(drivers, operator);
    await().untilAsserted(() -> assertScraped(prometheus));
    var activity =
        new Activity(
            Stream.of("node-1", "node-2").map(node -> new DriverClient(socket(node))).toList());
    activity.loseVolume(directory.resolve("node-1/devices"));
    // the audit finds it
    Files.writeString(directory.resolve("node-2/notes.txt"), "not of the driver");

    // rates need calls between two scrapes
    for (String query : queries()) {
      await()
          .alias(query)
          .atMost(AUDITED)
          .pollInterval(Duration.ofSeconds(1))
          .untilAsserted(
              () -> {
                activity.step();
                assertThat(query(prometheus, "query?query=", query)).isNotEmpty();
              });
    }
    await().untilAsserted(() -> assertThat(rules(prometheus)).containsOnly("ok"));
    drawDashboard(prometheus, activity, sandbox);
    activity.deleteVolumes();
  }

  /** The picture in the documentation is one of a longer time, and only drawn when asked for. */
  private void drawDashboard(URI prometheus, Activity activity, Sandbox sandbox) throws Exception {
    long from = Instant.now().getEpochSecond();
    Instant end = Instant.now().plus(GENERATE ? PICTURE : Duration.ofSeconds(2));
    for (int step = 0; Instant.now().isBefore(end); step++) {
      activity.step();
      if (step % 20 == 0) {
        resource(sandbox, "monitored-" + step / 60, 3 + step % 3);
      }
      Thread.sleep(STEP);
    }
    String range =
        "query_range?start=%d&end=%d&step=2&query=".formatted(from, Instant.now().getEpochSecond());
    String picture =
        DashboardPicture.of(
            JSON.readTree(text("dashboard.json")), query -> query(prometheus, range, query));

    if (GENERATE) {
      Files.createDirectories(PICTURE_FILE.resolveSibling(""));
      Files.writeString(PICTURE_FILE, picture);
    }
    assertThat(labels(PICTURE_FILE))
        .as("docs/images/dashboard.svg is stale: CONTRIBUTING.md says how to draw it")
        .containsAll(titles());
    Path drawn = directory.resolve("dashboard.svg");
    Files.writeString(drawn, picture);
    assertThat(labels(drawn)).containsAll(titles());
  }

  /** Creates or changes a resource. */
  private static void resource(Sandbox sandbox, String name, int logLevel) {
    sandbox
        .client()
        .resource(
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            metadata: {name: %s.example.com}
            spec: {deviceMode: lvm, logLevel: %d}
            """
                .formatted(name, logLevel))
        .serverSideApply();
  }

  /** The texts in a picture, which is read as XML. */
  private static List<String> labels(Path picture) throws Exception {
    NodeList texts =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(picture.toFile())
            .getElementsByTagName("text");
    return IntStream.range(0, texts.getLength())
        .mapToObj(i -> texts.item(i).getTextContent())
        .toList();
  }

  private static List<String> titles() throws IOException {
    var titles = new ArrayList<String>();
    JSON.readTree(text("dashboard.json"))
        .path("panels")
        .forEach(panel -> titles.add(panel.path("title").asText()));
    return titles;
  }

  private JsonNode query(URI prometheus, String kind, String query) throws Exception {
    JsonNode response =
        get(
            prometheus.resolve(
                "/api/v1/"
                    + kind
                    + URLEncoder.encode(
                        query.replace("$__rate_interval", "10s"), StandardCharsets.UTF_8)));
    assertThat(response.path("status").asText()).as("%s", response).isEqualTo("success");
    return response.at("/data/result");
  }

  private String socket(String node) {
    return directory.resolve(node + ".sock").toString();
  }

  private int startDriver(String node, int percentage) {
    int port = FreePorts.next();
    start(
        "driver-" + node,
        port,
        Map.of(),
        ROOT.resolve("bin/pmem-csi-driver").toString(),
        "-mode=node",
        "-deviceManager=file",
        "-pmemPercentage=" + percentage,
        "-drivername=monitored.example.com",
        "-nodeid=" + node,
        "-statePath=" + directory.resolve(node),
        "-endpoint=unix://" + socket(node),
        "-metricsListen=127.0.0.1:" + port);
    return port;
  }

  private int startOperator(Sandbox sandbox) {
    Definitions.install(sandbox.client(), ROOT.resolve("deploy/crd"));
    int port = FreePorts.next();
    start(
        "operator",
        port,
        Map.of("WATCH_NAMESPACE", sandbox.namespace()),
        ROOT.resolve("bin/pmem-csi-operator").toString(),
        "--image=any",
        "--metrics-addr=127.0.0.1:" + port,
        "--kubeconfig=" + sandbox.cluster().kubeconfig());
    return port;
  }

  /**
   * With the jobs of deploy/prometheus.yaml. Debian builds Prometheus without the discovery of
   * pods, so their labels are written here as that would find them.
   */
  private URI startPrometheus(List<Integer> drivers, int operator) throws Exception {
    Path configuration = directory.resolve("prometheus.yml");
    String targets =
        IntStream.range(0, drivers.size())
                .mapToObj(i -> driverTarget(drivers.get(i), "node-" + (i + 1), "metrics"))
                .collect(Collectors.joining())
            + driverTarget(operator, "node-3", "https")
            + target(operator, "operator", "label_app: pmem-csi-operator", "metrics")
            + target(operator, "other", "label_app: another-program", "metrics");
    Files.writeString(
        configuration,
        """
        global: {scrape_interval: 1s, evaluation_interval: 1s}
        rule_files: [%s]
        scrape_configs:
        %s
        """
            .formatted(FILES.resolve("rules.yaml"), jobs("static_configs:" + targets)));
    int port = FreePorts.next();
    start(
        "prometheus",
        port,
        Map.of(),
        programs().resolve("prometheus").toString(),
        "--config.file=" + configuration,
        "--storage.tsdb.path=" + directory.resolve("tsdb"),
        "--web.listen-address=127.0.0.1:" + port);
    return URI.create("http://127.0.0.1:" + port);
  }

  private static String driverTarget(int port, String node, String portName) {
    return target(
        port,
        node,
        "label_app_kubernetes_io_part_of: pmem-csi, __meta_kubernetes_pod_container_name:"
            + " pmem-driver, __meta_kubernetes_pod_node_name: "
            + node,
        portName);
  }

  private static String target(int port, String instance, String pod, String portName) {
    return """
        %n  - targets: ['127.0.0.1:%d']
            labels:
              instance: %s
              __meta_kubernetes_namespace: pmem-csi
              __meta_kubernetes_pod_name: d-node-%s
              __meta_kubernetes_pod_%s
              __meta_kubernetes_pod_container_port_name: %s"""
        .formatted(port, instance, instance, pod.replace(", ", "\n      "), portName);
  }

  /** The jobs of deploy/prometheus.yaml with other targets. */
  private static String jobs(String targets) throws IOException {
    Map<?, ?> values =
        Serialization.unmarshal(
            Files.readString(ROOT.resolve("deploy/prometheus.yaml")), Map.class);
    return String.valueOf(values.get("extraScrapeConfigs"))
        .replaceAll("kubernetes_sd_configs:\\n *- role: \\w+", Matcher.quoteReplacement(targets));
  }

  /** What is scraped, with the labels that the rules need; everything else is dropped. */
  private void assertScraped(URI prometheus) throws Exception {
    List<String> scraped = new ArrayList<>();
    for (JsonNode found : get(prometheus.resolve("/api/v1/targets")).at("/data/activeTargets")) {
      JsonNode labels = found.path("labels");
      scraped.add(
          "%s %s %s %s %s"
              .formatted(
                  labels.path("job").asText(),
                  labels.path("kubernetes_namespace").asText(),
                  labels.path("kubernetes_pod_name").asText(),
                  labels.path("kubernetes_pod_container_name").asText(),
                  labels.path("kubernetes_pod_node_name").asText()));
    }
    assertThat(scraped)
        .containsExactlyInAnyOrder(
            "pmem-csi-containers pmem-csi d-node-node-1 pmem-driver node-1",
            "pmem-csi-containers pmem-csi d-node-node-2 pmem-driver node-2",
            "pmem-csi-operator pmem-csi d-node-operator  ");
  }

  private void start(String name, int port, Map<String, String> environment, String... command) {
    ChildProcess process =
        ChildProcess.start(
            name,
            directory.resolve(name + ".log"),
            List.of(),
            List.of(command),
            environment(environment));
    processes.push(process);
    process.awaitReady(START, () -> answers(port));
  }

  private static Map<String, String> environment(Map<String, String> more) {
    var all = new HashMap<>(more);
    all.put("JAVA_HOME", System.getProperty("java.home"));
    return all;
  }

  private boolean answers(int port) {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/metrics".formatted(port))).build();
      return http.send(request, BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException _) {
      return false;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** The queries of all panels, those in the documentation, and the runtime of each program. */
  private static List<String> queries() throws IOException {
    var queries = new ArrayList<String>();
    for (JsonNode panel : JSON.readTree(text("dashboard.json")).path("panels")) {
      panel.path("targets").forEach(target -> queries.add(data(target.path("expr").asText())));
    }
    Page.read(ROOT, "docs/monitoring.md")
        .blocks("promql")
        .forEach(block -> block.text().lines().forEach(queries::add));
    for (String metric : List.of("jvm_memory_used_bytes", "process_cpu_seconds_total")) {
      queries.add(metric + "{job=\"pmem-csi-operator\"}");
      queries.add(metric + "{job=\"pmem-csi-containers\"}");
    }
    assertThat(queries).hasSizeGreaterThan(20);
    return queries;
  }

  /** A query without what a panel shows in place of missing data. */
  private static String data(String query) {
    return WITHOUT_DATA.stream().anyMatch(query::contains)
        ? query
        : query.replaceFirst(" or (vector|label_replace)\\(.*", "");
  }

  private List<String> rules(URI prometheus) throws IOException, InterruptedException {
    var health = new ArrayList<String>();
    for (JsonNode group : get(prometheus.resolve("/api/v1/rules")).at("/data/groups")) {
      group.path("rules").forEach(rule -> health.add(rule.path("health").asText()));
    }
    return health;
  }

  private JsonNode get(URI address) throws IOException, InterruptedException {
    HttpResponse<String> response =
        http.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString());
    // 503 until it is ready
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JSON.readTree(response.body());
  }

  private static String text(String name) throws IOException {
    return Files.readString(FILES.resolve(name));
  }

  private static Path programs() throws IOException, InterruptedException {
    return Path.of(run(ROOT.resolve("testbed/monitoring/setup").toString()).strip());
  }

  private static String run(String... command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
