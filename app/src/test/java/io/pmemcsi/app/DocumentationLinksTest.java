package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Links between pages, to their headings, and to files, classes and packages of the repository. */
class DocumentationLinksTest {

  private static final Path ROOT = Path.of("..");
  private static final Path ARCHITECTURE = ROOT.resolve("docs/architecture.md");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

  /** Files that commands in the text name. */
  private static final Pattern DEPLOYED = Pattern.compile("\\bdeploy/[\\w./-]*\\w\\b(?!-?\\*)");

  /** Classes in the text, with or without their path and a method; {@code *} is any name. */
  private static final Pattern CLASS =
      Pattern.compile("`((?:[\\w*]+/)*[A-Z*][A-Za-z*]*[a-z][A-Za-z*]*)(?:\\.\\w+)?`");

  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  static Stream<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    for (String name : List.of("", "docs", "docs/decisions", "deploy/samples", "deploy/common")) {
      try (Stream<Path> files = Files.list(ROOT.resolve(name))) {
        files.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
      }
    }
    return pages.stream();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void linksLeadSomewhere(Path page) throws IOException {
    List<String> broken = new ArrayList<>();
    for (MatchResult link : LINK.matcher(prose(page)).results().toList()) {
      String target = link.group(1);
      if (target.matches("[a-z]+:.*")) {
        continue;
      }
      String[] parts = target.split("#", 2);
      Path file = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]);
      if (!Files.exists(file) || (parts.length > 1 && !anchors(file).contains(parts[1]))) {
        broken.add(target);
      }
    }
    assertThat(broken).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void namedInstallationFilesExist(Path page) throws IOException {
    assertThat(DEPLOYED.matcher(Files.readString(page)).results().map(MatchResult::group))
        .filteredOn(name -> !name.contains("VERSION"))
        .allSatisfy(name -> assertThat(ROOT.resolve(name)).exists());
  }

  @Test
  void classesOfTheArchitectureExist() throws IOException {
    List<String> sources = sources();

    assertThat(CLASS.matcher(prose(ARCHITECTURE)).results().map(name -> name.group(1)))
        .hasSizeGreaterThan(50)
        // a kind of Kubernetes
        .filteredOn(name -> !name.equals("Deployment"))
        .allSatisfy(
            name ->
                assertThat(sources)
                    .anyMatch(
                        source -> source.matches(".*/" + name.replace("*", "\\w+") + "\\.java")));
  }

  private static List<String> sources() throws IOException {
    List<String> sources = new ArrayList<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path module : modules.filter(path -> Files.exists(path.resolve("pom.xml"))).toList()) {
        if (Files.isDirectory(module.resolve("src"))) {
          try (Stream<Path> files = Files.walk(module.resolve("src"))) {
            files.map(Path::toString).forEach(sources::add);
          }
        }
      }
    }
    return sources;
  }

  @ParameterizedTest
  @ValueSource(strings = {"operator", "driver"})
  void packagesOfTheArchitectureAreThoseOfTheModule(String module) throws IOException {
    Path root = ROOT.resolve(module).resolve("src/main/java/io/pmemcsi").resolve(module);
    List<String> rows =
        prose(ARCHITECTURE)
            .lines()
            .dropWhile(line -> !line.startsWith("| package of `%s/`".formatted(module)))
            .skip(2)
            .takeWhile(line -> line.startsWith("|"))
            .map(line -> line.substring(1, line.indexOf('|', 1)))
            .toList();
    List<String> named =
        rows.stream()
            .flatMap(row -> CODE.matcher(row).results())
            .map(name -> name.group(1).replace('.', '/'))
            .toList();

    assertThat(named).allSatisfy(name -> assertThat(root.resolve(name)).isDirectory());
    try (Stream<Path> packages = Files.list(root)) {
      assertThat(packages.filter(Files::isDirectory).map(path -> path.getFileName().toString()))
          .allSatisfy(
              name -> assertThat(named).anyMatch(known -> (known + "/").startsWith(name + "/")));
    }
  }

  private static String prose(Path page) throws IOException {
    return Files.readString(page).replaceAll("(?s)```.*?```", "");
  }

  /** As GitHub derives them from headings. */
  private static List<String> anchors(Path page) throws IOException {
    return HEADING
        .matcher(prose(page))
        .results()
        .map(
            heading ->
                heading
                    .group(1)
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{N} _-]", "")
                    .replace(' ', '-'))
        .toList();
  }
}
