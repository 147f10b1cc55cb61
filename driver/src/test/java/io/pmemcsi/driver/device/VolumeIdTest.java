package io.pmemcsi.driver.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VolumeIdTest {

  @ParameterizedTest
  @CsvSource({
    "pvc-84236392-ccc8-4746-af67-04afe231a9a5,"
        + " pvc-84-95bcf28c30817baa69f91446f3a9a729dfc638e7c9e4f66801efcf92",
    "abc, abc-23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"
  })
  void aNameAlwaysYieldsTheSameId(String name, String id) {
    assertThat(VolumeId.fromName(name).value()).isEqualTo(id);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b/c d", "../../etc", "-rf", "äöü", "名前", "..", "a\nb", "x"})
  void namesWithUnusualCharactersYieldIdsValidForLvmAndFiles(String name) {
    assertThat(VolumeId.fromName(name).value())
        .matches("[A-Za-z0-9_+.][A-Za-z0-9_+.-]*")
        .hasSizeLessThanOrEqualTo(63);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"pvmove", "pvmove-1", "_mlog", "a_mlog", "x/mlog", "_cvol2", "_tmeta", "_rmeta"})
  void namesWithReservedWordsOfLvmYieldValidIds(String name) {
    assertThat(VolumeId.fromName(name).value())
        .doesNotStartWith("pvmove")
        .doesNotContain("_mlog", "_cvol", "_tmeta", "_rmeta");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a/b", "-a", "a b", "a\u0000b"})
  void anInvalidFileNameIsNotAnId(String text) {
    assertThat(VolumeId.parse(text)).isEmpty();
  }

  @Test
  void legacyIdsAreAccepted() {
    assertThat(VolumeId.parse("d2b7a5f5-8a3c-4f0e-9d34-0a4e6a6b7c11")).isPresent();
  }
}
