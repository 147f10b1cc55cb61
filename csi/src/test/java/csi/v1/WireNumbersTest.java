package csi.v1;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A wrong number would be silent until a real kubelet sends it. */
class WireNumbersTest {

  private static final FileDescriptor FILE = CsiProto.getDescriptor();

  @Test
  void everythingThatTravelsIsAsInTheSpecification() throws IOException {
    assertThat(WireFacts.of(FILE)).containsExactlyInAnyOrderElementsOf(specified());
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

  private static List<String> specified() throws IOException {
    try (InputStream table = WireNumbersTest.class.getResourceAsStream("/csi-wire.txt")) {
      return new String(table.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .toList();
    }
  }
}
