package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script by which make finds its JDK, on machines that are made up. */
class FindJdkTest {

  private static final List<String> TOOLS = List.of("grep", "dirname", "readlink");

  @TempDir private Path directory;

  private final Map<String, String> environment = new HashMap<>();

  @BeforeEach
  void aMachineWithAnOlderDefault() throws Exception {
    Path tools = Files.createDirectory(directory.resolve("bin"));
    for (String tool : TOOLS) {
      program(tools.resolve(tool), "#!/bin/sh\nexec /usr/bin/%s \"$@\"\n".formatted(tool));
    }
    Path older = jdk("jvm/java-17", "17.0.15");
    Files.createSymbolicLink(tools.resolve("javac"), older.resolve("bin/javac"));
    environment.put("PATH", tools.toString());
    environment.put("JAVA_HOME", older.toString());
    environment.put("HOME", directory.toString());
    environment.put("PMEM_CSI_JDK_DIRS", directory + "/jvm/*");
  }

  @Test
  void noneIsOneSentenceThatSaysWhatToInstall() throws Exception {
    ScriptRun answer = find();

    assertThat(answer.exitCode()).isEqualTo(1);
    assertThat(answer.out()).isEmpty();
    assertThat(answer.err())
        .startsWith("pmem-csi needs a JDK 25 and found none: install one ")
        .contains("openjdk-25-jdk", "PMEM_CSI_JDK")
        .hasLineCount(1);
  }

  @Test
  void itIsFoundWhereTheDefaultIsOlder() throws Exception {
    Path expected = jdk("jvm/temurin-25", "25.0.1");

    assertThat(find()).isEqualTo(new ScriptRun(0, expected + "\n", ""));
  }

  @Test
  void theOneOfThePathIsFoundAnywhere() throws Exception {
    Path expected = jdk("elsewhere", "25");
    Files.delete(directory.resolve("bin/javac"));
    Files.createSymbolicLink(directory.resolve("bin/javac"), expected.resolve("bin/javac"));

    assertThat(find()).isEqualTo(new ScriptRun(0, expected + "\n", ""));
  }

  @Test
  void theOneThatIsNamedIsTakenBeforeOthers() throws Exception {
    jdk("jvm/a-25", "25");
    Path expected = jdk("named", "25.0.2");
    environment.put("PMEM_CSI_JDK", expected.toString());

    assertThat(find()).isEqualTo(new ScriptRun(0, expected + "\n", ""));
  }

  @Test
  void aWrongNameIsSaidAndNotPassedOver() throws Exception {
    jdk("jvm/a-25", "25");
    environment.put("PMEM_CSI_JDK", "/no/such/jdk");

    ScriptRun answer = find();

    assertThat(answer.exitCode()).isEqualTo(1);
    assertThat(answer.err())
        .startsWith("pmem-csi needs a JDK 25, and PMEM_CSI_JDK=/no/such/jdk is none")
        .hasLineCount(1);
  }

  @Test
  void aRuntimeWithoutCompilerIsNoJdk() throws Exception {
    Files.delete(jdk("jvm/jre-25", "25").resolve("bin/javac"));

    assertThat(find().exitCode()).isEqualTo(1);
  }

  private ScriptRun find() throws IOException, InterruptedException {
    return ScriptRun.of(directory, environment, "../build/find-jdk");
  }

  private Path jdk(String name, String version) throws IOException {
    Path jdk = directory.toRealPath().resolve(name);
    Path bin = Files.createDirectories(jdk.resolve("bin"));
    program(bin.resolve("javac"), "");
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"%s\"\n".formatted(version));
    return jdk;
  }

  private static void program(Path file, String content) throws IOException {
    Files.writeString(file, content);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
