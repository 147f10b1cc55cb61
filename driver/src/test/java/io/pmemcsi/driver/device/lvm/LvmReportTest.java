package io.pmemcsi.driver.device.lvm;

import static io.pmemcsi.driver.device.RecordedTools.recorded;
import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.lvm.LvmReport.Group;
import io.pmemcsi.driver.device.lvm.LvmReport.PhysicalVolume;
import io.pmemcsi.driver.device.lvm.LvmReport.Volume;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class LvmReportTest {
  private static final String AAA = "aaa-09ee4ba0d6cf4c5ad0a9da5e7a12be5c2a7e4dd8b7a83d3b21e3d3b5";
  private static final String BBB = "bbb-09ee4ba0d6cf4c5ad0a9da5e7a12be5c2a7e4dd8b7a83d3b21e3d3b5";

  @Test
  void groupsHaveTheirOwnVolumes() throws Exception {
    LvmReport report = LvmReport.parse(recorded("lvm/fullreport.json"));

    Path directory = Path.of("/dev/ndbus0region1fsdax");
    assertThat(report.groups())
        .containsExactly(
            new Group(
                "ndbus0region1fsdax",
                1052770304,
                943718400,
                4194304,
                List.of(
                    new Volume(AAA, directory.resolve(AAA), 104857600, List.of()),
                    new Volume(BBB, directory.resolve(BBB), 4194304, List.of()))),
            new Group("data", 260046848, 260046848, 4194304, List.of()));
  }

  @Test
  void numbersThatNoFloatingPointNumberCanHoldSurvive() throws Exception {
    String large = recorded("lvm/fullreport.json").replace("1052770304", "9007199254740993");

    assertThat(LvmReport.parse(large).groups().getFirst().sizeBytes()).isEqualTo(9007199254740993L);
  }

  @Test
  void physicalVolumesHaveTheirGroup() throws Exception {
    assertThat(LvmReport.parse(recorded("lvm/pvs.json")).physicalVolumes())
        .containsExactlyInAnyOrder(
            new PhysicalVolume(Path.of("/dev/pmem0"), "data"),
            new PhysicalVolume(Path.of("/dev/pmem1"), "ndbus0region1fsdax"));
    assertThat(LvmReport.parse(recorded("lvm/pvs-none.json")).physicalVolumes()).isEmpty();
  }

  @Test
  void capacityIsWhatTheGroupsHaveFree() throws Exception {
    Groups groups =
        new Groups(LvmReport.parse(recorded("lvm/fullreport.json")).groups(), List.of());

    assertThat(groups.capacity(4L << 30))
        .isEqualTo(
            new Capacity(943718400, 943718400 + 260046848, 1052770304 + 260046848, 4L << 30));
  }

  @Test
  void aVolumeFitsInWholeExtentsOnly() throws Exception {
    Groups groups =
        new Groups(LvmReport.parse(recorded("lvm/fullreport.json")).groups(), List.of());

    assertThat(groups.fitting(0, _ -> true)).hasSize(2);
    assertThat(groups.fitting(260046848, _ -> true)).hasSize(2);
    assertThat(groups.fitting(260046849, _ -> true)).hasSize(1);
    assertThat(groups.fitting(943718401, _ -> true)).isEmpty();
    assertThat(groups.fitting(Long.MAX_VALUE, _ -> true)).isEmpty();
    assertThat(Groups.roundUp(0, 4194304)).isEqualTo(4194304);
    assertThat(Groups.roundUp(4194305, 4194304)).isEqualTo(8388608);
  }

  @Test
  void cachedGroupsFollowChanges() throws Exception {
    Groups before =
        new Groups(LvmReport.parse(recorded("lvm/fullreport.json")).groups(), List.of());
    Volume added = new Volume("new", Path.of("/dev/data/new"), 8388608, List.of());

    Groups more = before.with(before.all().get(1), added);
    Groups again = more.without(more.find("new").orElseThrow());

    assertThat(more.all().get(1).freeBytes()).isEqualTo(260046848 - 8388608);
    assertThat(more.find("new")).isPresent();
    assertThat(again).isEqualTo(before);
  }
}
