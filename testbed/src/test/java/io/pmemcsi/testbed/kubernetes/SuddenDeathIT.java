package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.pmemcsi.testbed.process.RunDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SuddenDeathIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);

  @Test
  void nothingOutlivesAJvmThatIsKilled(@TempDir Path temp)
      throws IOException, InterruptedException {
    Binaries binaries = Binaries.find();
    for (String program : List.of("kube-controller-manager", "kube-scheduler", "kubemark")) {
      assumeTrue(
          binaries.find(program).isPresent(),
          "no program %s in %s".formatted(program, binaries.directory()));
    }
    Path kubeconfig = temp.resolve("kubeconfig");
    Process jvm = startClusterWithOneNode(temp, kubeconfig);
    await().atMost(LIMIT).until(() -> Files.exists(kubeconfig) || !jvm.isAlive());
    assertThat(kubeconfig).as(Files.readString(temp.resolve("log"))).exists();
    List<ProcessHandle> children = jvm.descendants().toList();
    assertThat(children)
        .extracting(ProcessHandle::info)
        .extracting(info -> info.command().map(Path::of).map(Path::getFileName).map(Path::toString))
        .extracting(name -> name.orElse(""))
        .contains(
            "etcd",
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
            "kubemark",
            "socat");

    jvm.destroyForcibly().waitFor();

    await().atMost(LIMIT).untilAsserted(() -> assertThat(children).noneMatch(SuddenDeathIT::runs));
    assertThat(leftovers(temp)).as("a killed JVM cannot delete its directories").isNotEmpty();
    for (String kind : List.of("pmem-csi-kubernetes", "pmem-csi-nodes")) {
      RunDirectory.createIn(temp, kind).close();
    }
    assertThat(leftovers(temp)).as("but the next one does").isEmpty();
  }

  private static Process startClusterWithOneNode(Path temp, Path kubeconfig) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Djava.io.tmpdir=" + temp,
            "-cp",
            System.getProperty("java.class.path"),
            StandingCluster.class.getName(),
            kubeconfig.toString(),
            "1")
        .redirectErrorStream(true)
        .redirectOutput(temp.resolve("log").toFile())
        .start();
  }

  /** One that ended but whose parent did not ask for it yet has no command any more. */
  private static boolean runs(ProcessHandle process) {
    Optional<String> command = process.info().command();
    return process.isAlive() && command.isPresent();
  }

  private static List<Path> leftovers(Path temp) throws IOException {
    try (Stream<Path> all = Files.list(temp)) {
      return all.filter(Files::isDirectory).toList();
    }
  }
}
