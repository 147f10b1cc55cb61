package io.pmemcsi.operator.tools.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.operator.tools.status.NodeReport.State;
import java.util.List;
import org.junit.jupiter.api.Test;

class TextReportTest {

  private static final long GIB = 1L << 30;

  @Test
  void columnsAreAlignedAndEmptySectionsLeftOut() {
    var report =
        new DriverReport(
            "pmem-csi.intel.com",
            "PmemCSIDeployment pmem-csi.intel.com",
            "Running",
            "all is well",
            List.of("Node worker-10 runs the driver but has no memory"),
            List.of("Volume pvc-0 is being erased and deleted"),
            List.of(),
            List.of(),
            List.of(
                new NodeReport("worker-1", State.REGISTERED, 16 * GIB, 48 * GIB, 40 * GIB),
                new NodeReport("worker-10", State.REGISTERED, 0, null, null),
                new NodeReport("worker-11", State.NOT_REGISTERED, 0, GIB, GIB),
                new NodeReport("worker-12", State.LOST, GIB, null, null)),
            List.of(
                new VolumeReport(
                    "pvc-1",
                    "id-1",
                    "Bound",
                    16 * GIB,
                    "shop/data",
                    List.of("db-0", "db-1"),
                    "worker-1",
                    true,
                    ""),
                new VolumeReport(
                    "", "", "Pending", GIB / 2 * 3, "shop/new", List.of(), "", false, "")),
            List.of(new SnapshotReport("shop/daily", true, GIB, "pvc-1", "worker-1", "")));

    assertThat(TextReport.of(List.of(report)))
        .isEqualTo(
            """
            pmem-csi.intel.com: Running (PmemCSIDeployment pmem-csi.intel.com)
              ! Node worker-10 runs the driver but has no memory
              all is well
              In progress
                Volume pvc-0 is being erased and deleted
              Nodes
                worker-1   [#####...............]  16 GiB used, 48 GiB free      largest volume 40 GiB
                worker-10  0 B used                no capacity is published
                worker-11  0 B used                the driver is not registered
                worker-12  1 GiB used              the node does not exist
              Volumes
                shop/data  16 GiB   Bound    worker-1  db-0, db-1
                shop/new   1.5 GiB  Pending
              Snapshots
                shop/daily  1 GiB  Ready  worker-1  pvc-1
            """);
  }

  @Test
  void aReasonThatAProblemRepeatsIsLeftOut() {
    var report =
        new DriverReport(
            "pmem-csi.intel.com",
            "PmemCSIDeployment pmem-csi.intel.com",
            "Failed",
            "the image is not allowed",
            List.of("Failed: the image is not allowed"),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of());

    assertThat(TextReport.of(List.of(report)))
        .isEqualTo(
            """
            pmem-csi.intel.com: Failed (PmemCSIDeployment pmem-csi.intel.com)
              ! Failed: the image is not allowed
            """);
  }
}
