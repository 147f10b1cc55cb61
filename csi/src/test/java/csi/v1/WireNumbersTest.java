package csi.v1;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A wrong number would be silent until a real kubelet sends it: these are checked by hand. */
class WireNumbersTest {

  private static final FileDescriptor FILE = CsiProto.getDescriptor();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          CreateVolumeRequest                | name=1 capacity_range=2 volume_capabilities=3 parameters=4 secrets=5 volume_content_source=6 accessibility_requirements=7 changeable_parameters=8
          Volume                             | capacity_bytes=1 volume_id=2 volume_context=3 content_source=4 accessible_topology=5
          VolumeCapability                   | block=1 mount=2 access_mode=3
          VolumeCapability.MountVolume       | fs_type=1 mount_flags=2 volume_mount_group=3
          CapacityRange                      | required_bytes=1 limit_bytes=2
          ValidateVolumeCapabilitiesRequest  | volume_id=1 volume_context=2 volume_capabilities=3 parameters=4 secrets=5 changeable_parameters=6
          GetCapacityResponse                | available_capacity=1 maximum_volume_size=2 minimum_volume_size=3
          ControllerExpandVolumeRequest      | volume_id=1 capacity_range=2 secrets=3 volume_capability=4
          NodeStageVolumeRequest             | volume_id=1 publish_context=2 staging_target_path=3 volume_capability=4 secrets=5 volume_context=6
          NodePublishVolumeRequest           | volume_id=1 publish_context=2 staging_target_path=3 target_path=4 volume_capability=5 readonly=6 secrets=7 volume_context=8
          NodeUnpublishVolumeRequest         | volume_id=1 target_path=2
          NodeExpandVolumeRequest            | volume_id=1 volume_path=2 capacity_range=3 staging_target_path=4 volume_capability=5 secrets=6
          NodeGetVolumeStatsRequest          | volume_id=1 volume_path=2 staging_target_path=3
          VolumeUsage                        | available=1 total=2 used=3 unit=4
          NodeGetInfoResponse                | node_id=1 max_volumes_per_node=2 accessible_topology=3
          Snapshot                           | size_bytes=1 snapshot_id=2 source_volume_id=3 creation_time=4 ready_to_use=5 group_snapshot_id=6
          """)
  void fieldsHaveTheNumbersOfTheSpecification(String message, String fields) {
    assertThat(
            find(message).getFields().stream()
                .map(field -> field.getName() + "=" + field.getNumber())
                .collect(Collectors.joining(" ")))
        .isEqualTo(fields);
  }

  @Test
  void enumsHaveTheNumbersOfTheSpecification() {
    assertThat(VolumeCapability.AccessMode.Mode.SINGLE_NODE_SINGLE_WRITER_VALUE).isEqualTo(6);
    assertThat(VolumeCapability.AccessMode.Mode.SINGLE_NODE_MULTI_WRITER_VALUE).isEqualTo(7);
    assertThat(ControllerServiceCapability.RPC.Type.EXPAND_VOLUME_VALUE).isEqualTo(9);
    assertThat(ControllerServiceCapability.RPC.Type.SINGLE_NODE_MULTI_WRITER_VALUE).isEqualTo(13);
    assertThat(NodeServiceCapability.RPC.Type.EXPAND_VOLUME_VALUE).isEqualTo(3);
    assertThat(NodeServiceCapability.RPC.Type.SINGLE_NODE_MULTI_WRITER_VALUE).isEqualTo(5);
    assertThat(PluginCapability.Service.Type.VOLUME_ACCESSIBILITY_CONSTRAINTS_VALUE).isEqualTo(2);
  }

  @Test
  void methodsAreCalledByTheNamesOfTheSpecification() {
    assertThat(NodeGrpc.getNodeStageVolumeMethod().getFullMethodName())
        .isEqualTo("csi.v1.Node/NodeStageVolume");
    assertThat(FILE.getServices())
        .extracting(service -> service.getName() + " " + service.getMethods().size())
        .containsExactly(
            "Identity 3", "Controller 15", "GroupController 4", "SnapshotMetadata 2", "Node 8");
  }

  @Test
  void everySecretIsMarkedAsSuch() {
    assertThat(FILE.getMessageTypes())
        .flatExtracting(Descriptor::getFields)
        .filteredOn(field -> field.getName().equals("secrets"))
        .hasSize(19)
        .allMatch(WireNumbersTest::isSecret);
  }

  private static boolean isSecret(FieldDescriptor field) {
    return field.getOptions().getExtension(CsiProto.csiSecret);
  }

  private static Descriptor find(String name) {
    String[] parts = name.split("\\.");
    Descriptor found = FILE.findMessageTypeByName(parts[0]);
    for (int i = 1; i < parts.length; i++) {
      found = found.findNestedTypeByName(parts[i]);
    }
    return found;
  }
}
