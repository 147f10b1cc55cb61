package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What build/maven gives to javac, so that Error Prone looks once at each module. In the place of
 * Error Prone stands a plugin that finds fault with classes named Bad, and notes what it has seen.
 */
class JavacPluginsIT {

  private static final Path BIN = Path.of(System.getProperty("java.home"), "bin");

  private static final String CHECKER =
      """
      import com.sun.source.util.*;
      import com.sun.tools.javac.api.*;
      import java.nio.file.*;
      import javax.tools.Diagnostic;

      public class Checker implements Plugin, TaskListener {
        private Trees trees;
        private Path seen;

        public String getName() { return "ErrorProne"; }

        public void init(JavacTask task, String... options) {
          trees = JavacTrees.instance(((BasicJavacTask) task).getContext());
          seen = Path.of(options[0]);
          task.addTaskListener(this);
        }

        public void finished(TaskEvent event) {
          if (event.getKind() != TaskEvent.Kind.ANALYZE) return;
          String name = event.getTypeElement().toString();
          try {
            Files.writeString(seen, name + " ", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
          } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
          }
          if (name.startsWith("Bad")) {
            trees.printMessage(Diagnostic.Kind.ERROR, "a bad class", event.getCompilationUnit(),
                event.getCompilationUnit());
          }
        }
      }
      """;

  @TempDir private static Path shared;
  private static List<String> options;
  @TempDir private Path folder;

  @BeforeAll
  static void prepare() throws Exception {
    Path services = Files.createDirectories(checker().resolve("META-INF/services"));
    Files.writeString(services.resolve("com.sun.source.util.Plugin"), "Checker");
    Path source = Files.writeString(shared.resolve("Checker.java"), CHECKER);
    assertThat(
            run(
                BIN.resolve("javac").toString(),
                "--add-exports=jdk.compiler/com.sun.tools.javac.api=ALL-UNNAMED",
                "-d",
                checker().toString(),
                source.toString()))
        .isEmpty();
    options =
        Stream.of(mavenOptions().split("\\s+"))
            .filter(
                option ->
                    option.startsWith("-Xbootclasspath/a:")
                        || option.startsWith("-Dpmem-csi.javac.plugin="))
            .toList();
    assertThat(options).hasSize(2);
    assertThat(Path.of("../pom.xml"))
        .content()
        .contains("<arg>-XDprocloader=io.pmemcsi.build.SharedProcessors</arg>")
        .contains("<arg>-Xplugin:ErrorProne ");
  }

  @Test
  void whatWasFoundGoodIsNotCheckedAgain() throws Exception {
    assertThat(compile("a", "class Good {}")).isEmpty();
    // another place, the same content
    assertThat(compile("b", "class Good {}")).isEmpty();

    assertThat(seen()).isEqualTo("Good ");
  }

  @Test
  void whatIsBadIsBadEachTime() throws Exception {
    for (int time = 0; time < 2; time++) {
      assertThat(compile("a", "class Bad {}")).contains("a bad class");
    }

    assertThat(seen()).isEqualTo("Bad Bad ");
  }

  @Test
  void aChangedModuleAndThoseAboveItAreCheckedAgain() throws Exception {
    compile("below", "public class Good {}");
    compile("above", "class Upper extends Good {}", "below");
    compile("below", "public class Good { int more; }");
    compile("above", "class Upper extends Good {}", "below");

    assertThat(seen()).isEqualTo("Good Upper Good Upper ");
  }

  /** By Maven without our plugins, say. */
  @Test
  void classesThatSomebodyElseHasCompiledCountByTheirContent() throws Exception {
    for (String body : List.of("", "int more;")) {
      Path source =
          Files.writeString(folder.resolve("Lib.java"), "public class Lib {" + body + "}");
      run(BIN.resolve("javac").toString(), "-d", classes("other").toString(), source.toString());
      compile("above", "class Upper extends Lib {}", "other");
    }

    assertThat(seen()).isEqualTo("Upper Upper ");
  }

  private String compile(String module, String source, String... below) throws Exception {
    Path named = folder.resolve(source.replaceAll(".*?class (\\w+).*", "$1") + ".java");
    Files.writeString(named, source);
    List<String> command = new ArrayList<>(List.of(BIN.resolve("javac").toString()));
    command.addAll(List.of("-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1"));
    options.forEach(option -> command.add("-J" + option));
    command.add("-J-Dpmem-csi.javac.memory=" + folder.resolve("memory"));
    for (String part : List.of("api", "util")) {
      command.add("-J--add-exports=jdk.compiler/com.sun.tools.javac." + part + "=ALL-UNNAMED");
    }
    command.addAll(
        List.of(
            "-XDprocloader=io.pmemcsi.build.SharedProcessors",
            "-processorpath",
            checker().toString(),
            "-Xplugin:ErrorProne " + folder.resolve("seen"),
            "-d",
            classes(module).toString(),
            "-classpath",
            String.join(":", Stream.of(below).map(name -> classes(name).toString()).toList()),
            named.toString()));
    return run(command.toArray(String[]::new));
  }

  private static Path checker() {
    return shared.resolve("checker");
  }

  private Path classes(String module) {
    return folder.resolve(module).resolve("classes");
  }

  private String seen() throws IOException {
    return Files.readString(folder.resolve("seen"));
  }

  private static String mavenOptions() throws Exception {
    Path maven = Files.writeString(shared.resolve("mvn"), "#!/bin/sh\necho \"$MAVEN_OPTS\"\n");
    Files.setPosixFilePermissions(maven, PosixFilePermissions.fromString("rwxr-xr-x"));
    return run(
        "env",
        "-u",
        "MAVEN_OPTS",
        "PATH=" + shared + ":" + System.getenv("PATH"),
        "../build/maven");
  }

  private static String run(String... command) throws IOException, InterruptedException {
    Path output = Files.createTempFile(shared, "output", "");
    new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start()
        .waitFor();
    return Files.readString(output);
  }
}
