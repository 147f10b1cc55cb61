package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BinariesTest {

  @TempDir private Path folder;

  @Test
  void theFolderInTheEnvironmentWins() throws IOException {
    program("etcd");
    program("kube-apiserver");

    Binaries binaries =
        Binaries.find(
            Map.of("KUBEBUILDER_ASSETS", folder.toString(), "XDG_CACHE_HOME", "/nowhere"));

    assertThat(binaries.folder()).isEqualTo(folder);
    assertThat(binaries.find("kubemark")).isEmpty();
    assertThatThrownBy(() -> binaries.get("kube-scheduler"))
        .isInstanceOf(Binaries.MissingProgramException.class)
        .hasMessageContaining("no program kube-scheduler in " + folder);
  }

  @Test
  void aFolderWithoutAnApiServerIsRefusedWithAWayOut() throws IOException {
    program("etcd");

    assertThatThrownBy(() -> Binaries.find(Map.of("KUBEBUILDER_ASSETS", folder.toString())))
        .hasMessageContaining("no program kube-apiserver in " + folder)
        .hasMessageContaining("KUBEBUILDER_ASSETS");
  }

  @Test
  void anEmptyCacheSaysHowToFillIt() {
    assertThatThrownBy(() -> Binaries.find(Map.of("XDG_CACHE_HOME", folder.toString())))
        .hasMessageContaining("no program etcd in " + folder.resolve("pmem-csi/kubernetes"))
        .hasMessageContaining("make setup");
  }

  private void program(String name) throws IOException {
    Files.createFile(
        folder.resolve(name),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }
}
