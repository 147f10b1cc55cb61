package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.TestAbortedException;

class BinariesTest {

  private static final List<String> PROGRAMS =
      List.of(
          "etcd",
          "kube-apiserver",
          "kube-controller-manager",
          "kube-scheduler",
          "kubemark",
          "kubelet",
          "kube-proxy",
          "kubectl");

  @TempDir private Path directory;
  @TempDir private Path machine;
  @TempDir private Path tools;

  @Test
  void theDirectoryInTheEnvironmentWins() throws IOException {
    program("etcd");
    program("kube-apiserver");

    Binaries binaries =
        Binaries.find(
            Map.of("KUBEBUILDER_ASSETS", directory.toString(), "XDG_CACHE_HOME", "/nowhere"));

    assertThat(binaries.directory()).isEqualTo(directory);
    assertThat(binaries.find("kubemark")).isEmpty();
    assertThatThrownBy(() -> binaries.get("kube-scheduler"))
        .isInstanceOf(Binaries.MissingProgramException.class)
        .hasMessageContaining("no program kube-scheduler in " + directory);
  }

  @Test
  void aTestWithoutAProgramThatOnlyItNeedsIsSkipped() throws IOException {
    program("etcd");
    program("kube-apiserver");
    Binaries binaries = Binaries.find(Map.of("KUBEBUILDER_ASSETS", directory.toString()));

    assertThatThrownBy(() -> binaries.orSkip("kubectl", "a user types"))
        .isInstanceOf(TestAbortedException.class)
        .hasMessageContaining("no program kubectl in %s: a user types".formatted(directory));
  }

  @Test
  void aDirectoryWithoutAnApiServerIsRefusedWithAWayOut() throws IOException {
    program("etcd");

    assertThatThrownBy(() -> Binaries.find(Map.of("KUBEBUILDER_ASSETS", directory.toString())))
        .hasMessageContaining("no program kube-apiserver in " + directory)
        .hasMessageContaining("KUBEBUILDER_ASSETS");
  }

  @Test
  void anEmptyCacheSaysHowToFillIt() {
    assertThatThrownBy(() -> Binaries.find(Map.of("XDG_CACHE_HOME", directory.toString())))
        .hasMessageContaining("no program etcd in " + directory.resolve("pmem-csi/kubernetes"))
        .hasMessageContaining("make setup");
  }

  @Test
  void theSetUpTakesTheDirectoryInTheEnvironmentAndBuildsNothing() throws Exception {
    for (String name : PROGRAMS) {
      program(name);
    }

    Answer answer = setUp();

    assertThat(answer).isEqualTo(new Answer(0, directory + "\n", ""));
    assertThat(machine).isEmptyDirectory();
  }

  @ParameterizedTest
  @ValueSource(strings = {"etcd", "kube-apiserver"})
  void theSetUpRefusesADirectoryThatMissesAProgramInOneSentence(String missing) throws Exception {
    for (String name : PROGRAMS) {
      program(name);
    }
    Files.delete(directory.resolve(missing));

    Answer answer = setUp();

    assertThat(answer)
        .isEqualTo(
            new Answer(
                1,
                "",
                "testbed-kubernetes: KUBEBUILDER_ASSETS names %s, which has no program %s:"
                        .formatted(directory, missing)
                    + " name another directory, or unset it.\n"));
    assertThat(machine).isEmptyDirectory();
  }

  @Test
  void theSetUpSaysWhichProgramSomeTestsWillMiss() throws Exception {
    for (String name : PROGRAMS) {
      program(name);
    }
    Files.delete(directory.resolve("kubemark"));

    Answer answer = setUp();

    assertThat(answer.exitCode()).isZero();
    assertThat(answer.err())
        .isEqualTo(
            "testbed-kubernetes: %s has no program kubemark: tests that need it are skipped.\n"
                .formatted(directory));
  }

  private record Answer(int exitCode, String out, String err) {}

  /** The script that make calls, on a machine where building and downloading leave a trace. */
  private Answer setUp() throws IOException, InterruptedException {
    for (String tool : List.of("apt-get", "dpkg-deb", "go", "make", "curl", "wget")) {
      script(tools.resolve(tool), "touch %s/$(basename $0); exit 1".formatted(machine));
    }
    for (String tool : List.of("setpriv", "unshare", "ip", "socat")) {
      script(tools.resolve(tool), "exit 1");
    }
    Path out = tools.resolve("out");
    Path err = tools.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(Path.of("kubernetes/binaries").toAbsolutePath().toString())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().clear();
    builder
        .environment()
        .putAll(
            Map.of(
                "PATH", tools + ":/usr/bin:/bin",
                "HOME", machine.toString(),
                "XDG_CACHE_HOME", machine.toString(),
                "KUBEBUILDER_ASSETS", directory.toString()));
    int exitCode = builder.start().waitFor();
    return new Answer(exitCode, Files.readString(out), Files.readString(err));
  }

  private void program(String name) throws IOException {
    script(directory.resolve(name), "exit 1");
  }

  private static void script(Path file, String line) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + line + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }
}
