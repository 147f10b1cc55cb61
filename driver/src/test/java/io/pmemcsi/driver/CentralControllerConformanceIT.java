package io.pmemcsi.driver;

import static io.pmemcsi.driver.CsiAssert.assertThatCall;

import csi.v1.ControllerServiceCapability.RPC;
import csi.v1.CreateSnapshotRequest;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.ListSnapshotsRequest;
import io.grpc.Status.Code;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The same requirements for the Controller service of the central controller. */
class CentralControllerConformanceIT extends ControllerConformanceIT {

  @Override
  FileModeDriver start(Path directory) {
    return CentralCluster.singleNode(directory);
  }

  @Override
  List<RPC.Type> expectedCapabilities() {
    return List.of(
        RPC.Type.CREATE_DELETE_VOLUME,
        RPC.Type.LIST_VOLUMES,
        RPC.Type.GET_CAPACITY,
        RPC.Type.SINGLE_NODE_MULTI_WRITER);
  }

  @Test
  void snapshotsAreUnimplemented() {
    assertThatCall(
            () -> driver.controller().createSnapshot(CreateSnapshotRequest.getDefaultInstance()))
        .fails(Code.UNIMPLEMENTED);
    assertThatCall(
            () -> driver.controller().deleteSnapshot(DeleteSnapshotRequest.getDefaultInstance()))
        .fails(Code.UNIMPLEMENTED);
    assertThatCall(
            () -> driver.controller().listSnapshots(ListSnapshotsRequest.getDefaultInstance()))
        .fails(Code.UNIMPLEMENTED);
  }
}
