package io.pmemcsi.driver.volume;

import static io.pmemcsi.driver.volume.ParameterSource.EPHEMERAL_CONTEXT;
import static io.pmemcsi.driver.volume.ParameterSource.LEDGER;
import static io.pmemcsi.driver.volume.ParameterSource.PERSISTENT_CONTEXT;
import static io.pmemcsi.driver.volume.ParameterSource.STORAGE_CLASS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.DeviceMode;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ParameterSourceTest {

  private static final VolumeParameters DEFAULTS_NAMED =
      new VolumeParameters(
          true,
          false,
          AccessModel.APP_DIRECT,
          false,
          "pvc-1",
          OptionalLong.empty(),
          Optional.empty(),
          OptionalInt.empty());

  @Test
  void aStorageClassWithoutParametersMeansErasedAndDirect() {
    assertThat(STORAGE_CLASS.parse(Map.of())).isEqualTo(VolumeParameters.DEFAULTS);
  }

  @Test
  void aNumaNodeIsRequestedByItsNumberAndNotKeptInTheLedger() {
    VolumeParameters requested = STORAGE_CLASS.parse(Map.of("numaNode", "1"));

    assertThat(requested.numaNode()).hasValue(1);
    assertThat(requested.named("pvc-1", DeviceMode.LVM).toLedger()).doesNotContainKey("numaNode");
    assertThat(requested.toContext(OptionalInt.of(1))).containsEntry("numaNode", "1");
    assertThat(EPHEMERAL_CONTEXT.parse(Map.of("size", "1Gi", "numaNode", "0")).numaNode())
        .hasValue(0);
    assertThat(
            ParameterSource.requestedNumaNode(Map.of("numaNode", "1", "of another release", "x")))
        .hasValue(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "one", "0x1", "12345", "1 "})
  void anythingButANumberOfANumaNodeIsRefused(String value) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> STORAGE_CLASS.parse(Map.of("numaNode", value)))
        .withMessageContaining("parameter \"numaNode\": invalid value \"%s\"".formatted(value));
  }

  @ParameterizedTest
  @ValueSource(strings = {"eraseafter", "eraseAfter"})
  void eraseAfterIsAcceptedInBothSpellings(String key) {
    assertThat(STORAGE_CLASS.parse(Map.of(key, "false")).eraseAfter()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"kataContainers", "katacontainers", "KATACONTAINERS"})
  void kataContainersIsAcceptedInAnyCase(String key) {
    assertThat(STORAGE_CLASS.parse(Map.of(key, "T")).kataContainers()).isTrue();
  }

  @Test
  void twoSpellingsThatDisagreeAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> STORAGE_CLASS.parse(Map.of("eraseafter", "true", "eraseAfter", "false")))
        .withMessageContaining("twice");
  }

  @ParameterizedTest
  @CsvSource({
    "1, true", "t, true", "T, true", "TRUE, true", "true, true", "True, true",
    "0, false", "f, false", "F, false", "FALSE, false", "false, false", "False, false"
  })
  void booleansHaveSeveralSpellings(String text, boolean value) {
    assertThat(STORAGE_CLASS.parse(Map.of("eraseafter", text)).eraseAfter()).isEqualTo(value);
  }

  @ParameterizedTest
  @CsvSource({
    "STORAGE_CLASS, size, 1Gi",
    "STORAGE_CLASS, name, x",
    "STORAGE_CLASS, deviceMode, lvm",
    "STORAGE_CLASS, csi.storage.k8s.io/foo, x",
    "STORAGE_CLASS, unknown, x",
    "STORAGE_CLASS, cacheSize, 2",
    "EPHEMERAL_CONTEXT, persistencyModel, normal",
    "EPHEMERAL_CONTEXT, name, x",
    "EPHEMERAL_CONTEXT, storage.kubernetes.io/csiProvisionerIdentity, x",
    "PERSISTENT_CONTEXT, size, 1Gi",
    "PERSISTENT_CONTEXT, deviceMode, lvm",
    "LEDGER, csi.storage.k8s.io/ephemeral, true",
    "LEDGER, unknown, x"
  })
  void aMisplacedKeyIsNamed(ParameterSource source, String key, String value) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> source.parse(Map.of(key, value)))
        .withMessageContaining("parameter \"" + key + "\" invalid in this context");
  }

  @ParameterizedTest
  @CsvSource({
    "eraseafter, maybe",
    "kataContainers, 2",
    "usage, Other",
    "persistencyModel, ephemeral",
    "persistencyModel, cache",
    "persistencyModel, sometimes"
  })
  void aBadValueIsNamedWithItsKey(String key, String value) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> STORAGE_CLASS.parse(Map.of(key, value)))
        .withMessageStartingWith("persistent volume: ")
        .withMessageContaining("\"" + key + "\"")
        .withMessageContaining("\"" + value + "\"");
  }

  @Test
  void kataAndFileIoExcludeEachOther() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> STORAGE_CLASS.parse(Map.of("kataContainers", "true", "usage", "FileIO")))
        .withMessageContaining("exclude each other");
  }

  @Test
  void anEphemeralVolumeRequiresASize() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> EPHEMERAL_CONTEXT.parse(Map.of("eraseafter", "true")))
        .withMessageStartingWith("ephemeral inline volume parameters: ")
        .withMessageContaining("\"size\" is missing");

    VolumeParameters parsed =
        EPHEMERAL_CONTEXT.parse(Map.of("size", "1Ki", "csi.storage.k8s.io/pod.name", "p"));
    assertThat(parsed.sizeBytes()).isEqualTo(OptionalLong.of(1024));
    assertThat(parsed.ephemeral()).isTrue();
  }

  @Test
  void contextKeysAddedByKubernetesAreAccepted() {
    assertThat(
            PERSISTENT_CONTEXT.parse(
                Map.of(
                    "csi.storage.k8s.io/pv/name", "pv",
                    "csi.storage.k8s.io/ephemeral", "false",
                    "storage.kubernetes.io/csiProvisionerIdentity", "123",
                    "name", "pvc-1")))
        .isEqualTo(DEFAULTS_NAMED);
  }

  @Test
  void theLegacyNameOfTheDefaultAccessModelIsAccepted() {
    assertThat(STORAGE_CLASS.parse(Map.of("persistencyModel", "none")).ephemeral()).isFalse();
  }

  @Test
  void theContextOfAVolumeCanBeReadBack() {
    VolumeParameters parameters =
        STORAGE_CLASS
            .parse(Map.of("eraseAfter", "false", "usage", "FileIO"))
            .named("pvc-1", DeviceMode.LVM);

    VolumeParameters back = PERSISTENT_CONTEXT.parse(parameters.toContext());

    assertThat(back.isCompatibleWith(parameters)).isTrue();
    assertThat(back.name()).isEqualTo("pvc-1");
  }

  @Test
  void theLedgerFormCanBeReadBack() {
    VolumeParameters parameters =
        EPHEMERAL_CONTEXT
            .parse(Map.of("size", "1Gi", "kataContainers", "true"))
            .named("csi-1", DeviceMode.DIRECT);

    assertThat(LEDGER.parse(parameters.toLedger())).isEqualTo(parameters);
  }
}
