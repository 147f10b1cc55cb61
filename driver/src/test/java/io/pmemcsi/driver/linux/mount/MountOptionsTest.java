package io.pmemcsi.driver.linux.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MountOptionsTest {

  @Test
  void optionsAreSplitIntoFlagsAndFilesystemOptions() {
    assertThat(MountOptions.of(List.of("ro", "noatime", "dax=always", "defaults", "discard")))
        .isEqualTo(new MountOptions(1 | 1024, "dax=always,discard"));
  }

  @Test
  void aQuotedSelinuxLabelReachesTheKernelInQuotes() {
    assertThat(MountOptions.of(List.of("noatime", "context=\"u:r:t:s0:c1,c2\"", "dax=always")))
        .isEqualTo(new MountOptions(1024, "context=\"u:r:t:s0:c1,c2\",dax=always"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "noatime,nosuid | {noatime=true, nosuid=true}",
        "exec,suid,dev,async,diratime | {nodev=false, nodiratime=false, noexec=false, nosuid=false,"
            + " sync=false}",
        "noexec,exec | {noexec=false}",
        "atime | {noatime=false}",
        "relatime | {relatime=true}",
        "noatime,relatime | {noatime=true}",
        "noatime,strictatime | {noatime=false, relatime=false}",
        "norelatime,silent,loud,defaults,ro,rw | {}",
        "data=ordered,barrier=1,nofail,allocsize=1g | {}",
        "dax | {dax=true}",
        "dax=always,discard | {dax=true}"
      })
  void onlyWhatTheKernelAlwaysShowsIsExpectedInItsTable(String options, String shown) {
    assertThat(MountOptions.shown(List.of(options.split(",")))).hasToString(shown);
  }

  @Test
  void theLastOptionWins() {
    assertThat(MountOptions.of(List.of("ro", "nosuid", "rw"))).isEqualTo(new MountOptions(2, ""));
  }
}
