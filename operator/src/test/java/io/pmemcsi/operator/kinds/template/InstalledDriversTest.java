package io.pmemcsi.operator.kinds.template;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class InstalledDriversTest {

  private static final String UID = "mine";

  @Test
  void socketDirectoryShowsADriverWhoseObjectWasDeleted() {
    var installed = InstalledDrivers.of(List.of(), Optional.of(daemonSet("a")));

    assertThat(installed.current()).contains("a");
    assertThat(installed.endingFor("b")).containsExactly("a");
    assertThat(installed.endingFor("a")).isEmpty();
    assertThat(installed.endingWith("b", List.of(), UID)).containsExactly("a", "b");
  }

  @Test
  void changedSocketDirectoryIsNoFormerDriver() {
    var installed = InstalledDrivers.of(List.of(driver("a", UID)), Optional.of(daemonSet("other")));

    assertThat(installed.endingFor("a")).isEmpty();
  }

  @Test
  void everyDriverOfAResourceEndsWithIt() {
    CSIDriver former = driver("a", UID);
    var installed = InstalledDrivers.of(List.of(former), Optional.of(daemonSet("b")));

    assertThat(installed.current()).contains("b");
    assertThat(installed.endingWith("c", List.of(former, driver("late", UID)), UID))
        .containsExactly("a", "b", "c", "late");
  }

  @Test
  void driverOfAnotherOwnerDoesNotEndWithAResourceThatNamesIt() {
    var installed = InstalledDrivers.of(List.of(driver("a", UID)), Optional.of(daemonSet("a")));
    CSIDriver unmarked =
        new CSIDriverBuilder().withNewMetadata().withName("plain").endMetadata().build();

    assertThat(installed.endingWith("theirs", List.of(driver("theirs", "other")), UID))
        .containsExactly("a");
    assertThat(installed.endingWith("plain", List.of(unmarked), UID)).containsExactly("a");
  }

  @Test
  void nothingIsInstalledAtFirst() {
    var installed = InstalledDrivers.of(List.of(), Optional.empty());

    assertThat(installed.current()).isEmpty();
    assertThat(installed.endingFor("a")).isEmpty();
    assertThat(installed.endingWith(null, List.of(), UID)).isEmpty();
  }

  private static CSIDriver driver(String name, String uid) {
    return new CSIDriverBuilder()
        .withNewMetadata()
        .withName(name)
        .withLabels(Map.of(TemplateKind.LABELS.uidLabel(), uid))
        .endMetadata()
        .build();
  }

  private static DaemonSet daemonSet(String driver) {
    return new DaemonSetBuilder()
        .withNewSpec()
        .withNewTemplate()
        .withNewSpec()
        .addNewVolume()
        .withName("user")
        .withNewEmptyDir()
        .endEmptyDir()
        .endVolume()
        .addNewVolume()
        .withName("csi-driver")
        .withNewHostPath()
        .withPath("/var/lib/kubelet/plugins/" + driver)
        .endHostPath()
        .endVolume()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }
}
