package io.pmemcsi.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Completes the SBOM of the program, which Maven writes, with everything else in the image: Debian,
 * its packages and the Java runtime. Only deploy/image/Containerfile starts this, in the image.
 *
 * <p>The same image always gives the same text, so that its layer is reproducible.
 */
final class ImageSbom {

  private static final ObjectMapper JSON = new ObjectMapper();

  private ImageSbom() {}

  /** The arguments are the SBOM of the program, the root of the image and the file to write. */
  public static void main(String[] arguments) throws IOException {
    JsonNode program = JSON.readTree(Path.of(arguments[0]).toFile());
    ObjectNode complete = complete((ObjectNode) program, Path.of(arguments[1]));
    Files.writeString(
        Path.of(arguments[2]),
        JSON.writerWithDefaultPrettyPrinter().writeValueAsString(complete) + "\n");
  }

  /**
   * Returns an SBOM with these components, then the operating system, the runtime that executes
   * this, and the packages in the order of their names.
   */
  static ObjectNode complete(ObjectNode program, Path root) throws IOException {
    ObjectNode complete = program.deepCopy();
    ArrayNode components = complete.withArray("/components");
    Map<String, String> system = osRelease(root.resolve("etc/os-release"));
    String id = system.getOrDefault("ID", "unknown");
    String version = system.getOrDefault("VERSION_ID", "unknown");
    components.add(operatingSystem(id, version));
    components.add(runtime());
    installed(root.resolve("var/lib/dpkg/status"))
        .map(one -> component(one, id, version))
        .forEach(components::add);
    complete.put("serialNumber", "urn:uuid:" + digest(components));
    return complete;
  }

  private static ObjectNode operatingSystem(String id, String version) {
    return JSON.createObjectNode()
        .put("type", "operating-system")
        .put("bom-ref", "%s@%s".formatted(id, version))
        .put("name", id)
        .put("version", version);
  }

  private static ObjectNode runtime() {
    String version = Runtime.version().toString();
    String purl = "pkg:generic/openjdk@" + encode(version);
    ObjectNode runtime =
        JSON.createObjectNode()
            .put("type", "platform")
            .put("bom-ref", purl)
            .put("publisher", System.getProperty("java.vendor", "unknown"))
            .put("name", "openjdk")
            .put("version", version);
    runtime
        .putArray("licenses")
        .addObject()
        .put("expression", "GPL-2.0-only WITH Classpath-exception-2.0");
    return runtime.put("purl", purl);
  }

  private static ObjectNode component(DebianPackage one, String id, String version) {
    String purl =
        "pkg:deb/%s/%s@%s?arch=%s&distro=%s-%s"
            .formatted(
                id, encode(one.name()), encode(one.version()), one.architecture(), id, version);
    return JSON.createObjectNode()
        .put("type", "library")
        .put("bom-ref", purl)
        .put("publisher", one.maintainer())
        .put("name", one.name())
        .put("version", one.version())
        .put("purl", purl);
  }

  private record DebianPackage(
      String name, String version, String architecture, String maintainer) {

    static DebianPackage of(Map<String, String> fields) {
      return new DebianPackage(
          require(fields, "Package"),
          require(fields, "Version"),
          require(fields, "Architecture"),
          require(fields, "Maintainer"));
    }

    private static String require(Map<String, String> fields, String name) {
      String value = fields.get(name);
      if (value == null) {
        throw new IllegalArgumentException(
            "dpkg's status has a package without the field %s: %s".formatted(name, fields));
      }
      return value;
    }
  }

  private static Stream<DebianPackage> installed(Path status) throws IOException {
    return Stream.of(Files.readString(status).split("\n\n", -1))
        .map(paragraph -> fields(paragraph, ": "))
        .filter(fields -> fields.getOrDefault("Status", "").endsWith(" installed"))
        .map(DebianPackage::of)
        .sorted(Comparator.comparing(DebianPackage::name));
  }

  private static Map<String, String> osRelease(Path file) throws IOException {
    return fields(Files.readString(file).replace("\"", ""), "=");
  }

  /** Lines that begin with a name; those that continue a value are left out. */
  private static Map<String, String> fields(String text, String separator) {
    return text.lines()
        .filter(line -> line.matches("[A-Za-z].*" + separator + ".*"))
        .map(line -> line.split(separator, 2))
        .collect(Collectors.toMap(field -> field[0], field -> field[1]));
  }

  /** As in a package URL, where a colon stays as it is. */
  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("%3A", ":").replace("%7E", "~");
  }

  private static UUID digest(JsonNode content) {
    return UUID.nameUUIDFromBytes(content.toString().getBytes(StandardCharsets.UTF_8));
  }
}
