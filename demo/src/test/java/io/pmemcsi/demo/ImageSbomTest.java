package io.pmemcsi.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImageSbomTest {

  private static final String PROGRAM =
      """
      {
        "bomFormat": "CycloneDX",
        "serialNumber": "urn:uuid:b17f1619-8b2f-331f-b8b8-b856a43fcd55",
        "components": [{"bom-ref": "pkg:maven/a/b@1", "name": "b", "version": "1"}]
      }
      """;

  @TempDir private Path root;

  @Test
  void systemRuntimeAndInstalledPackagesFollowTheJars() throws Exception {
    write(
        "etc/os-release",
        "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nID=debian\n");
    write(
        "var/lib/dpkg/status",
        """
        Package: lvm2
        Status: install ok installed
        Maintainer: Debian LVM Team <team@example.com>
        Architecture: amd64
        Version: 2.03.16-2
        Description: Linux Logical Volume Manager
         Homepage: is not a field here

        Package: apt
        Status: deinstall ok config-files
        Architecture: amd64
        Version: 2.6.1

        Package: libstdc++6
        Status: install ok installed
        Maintainer: Debian GCC Maintainers <gcc@example.com>
        Architecture: amd64
        Version: 1:12.2.0-14+deb12u1
        """);

    JsonNode sbom = complete();

    assertThat(sbom.get("components"))
        .extracting(component -> component.get("bom-ref").asText())
        .containsExactly(
            "pkg:maven/a/b@1",
            "debian@12",
            "pkg:generic/openjdk@" + Runtime.version().toString().replace("+", "%2B"),
            "pkg:deb/debian/libstdc%2B%2B6@1:12.2.0-14%2Bdeb12u1?arch=amd64&distro=debian-12",
            "pkg:deb/debian/lvm2@2.03.16-2?arch=amd64&distro=debian-12");
    assertThat(sbom.at("/components/3/name").asText()).isEqualTo("libstdc++6");
    assertThat(sbom.at("/components/3/version").asText()).isEqualTo("1:12.2.0-14+deb12u1");
  }

  @Test
  void serialNumberDependsOnTheContentOnly() throws Exception {
    write("etc/os-release", "ID=debian\nVERSION_ID=12\n");
    write("var/lib/dpkg/status", "");
    JsonNode first = complete();
    JsonNode second = complete();
    write("etc/os-release", "ID=debian\nVERSION_ID=13\n");

    assertThat(second).isEqualTo(first);
    assertThat(complete().get("serialNumber")).isNotEqualTo(first.get("serialNumber"));
  }

  private JsonNode complete() throws IOException {
    return ImageSbom.complete((ObjectNode) new ObjectMapper().readTree(PROGRAM), root);
  }

  private void write(String path, String text) throws IOException {
    Path file = root.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
