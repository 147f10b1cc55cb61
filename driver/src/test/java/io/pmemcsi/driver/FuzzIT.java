package io.pmemcsi.driver;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import csi.v1.ControllerGrpc;
import csi.v1.GroupControllerGrpc;
import csi.v1.IdentityGrpc;
import csi.v1.ListVolumesRequest;
import csi.v1.NodeGrpc;
import csi.v1.SnapshotMetadataGrpc;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Every call with every field left out, odd or enormous, under a seed that is printed on failure:
 * no crash, no hang, no code that says the driver did not expect it, and nothing left behind.
 */
class FuzzIT {

  private static final int CALLS = Boolean.getBoolean("pmem-csi.campaign") ? 20_000 : 600;
  private static final long SEED = Long.getLong("pmem-csi.fuzz.seed", 20261115);

  /** What a caller may hear about a request that makes no sense. */
  private static final Set<Status.Code> EXPECTED =
      EnumSet.of(
          Status.Code.INVALID_ARGUMENT,
          Status.Code.NOT_FOUND,
          Status.Code.ALREADY_EXISTS,
          Status.Code.FAILED_PRECONDITION,
          Status.Code.OUT_OF_RANGE,
          Status.Code.RESOURCE_EXHAUSTED,
          Status.Code.ABORTED,
          Status.Code.UNIMPLEMENTED);

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final List<String> knownIds = new ArrayList<>();

  @Test
  void everyCallSurvivesNonsense() {
    try (Scratch scratch = new Scratch();
        FileModeDriver driver = FileModeDriver.start(scratch.folder())) {
      knownIds.add(new Calls(driver).create("fuzz", 1 << 22).getVolumeId());
      List<MethodDescriptor<?, ?>> methods = new ArrayList<>();
      for (ServiceDescriptor service :
          List.of(
              IdentityGrpc.getServiceDescriptor(),
              ControllerGrpc.getServiceDescriptor(),
              GroupControllerGrpc.getServiceDescriptor(),
              NodeGrpc.getServiceDescriptor(),
              SnapshotMetadataGrpc.getServiceDescriptor())) {
        methods.addAll(service.getMethods());
      }
      for (int i = 0; i < CALLS; i++) {
        call(driver, scratch, methods.get(random.nextInt(methods.size())), i);
      }
      Calls csi = new Calls(driver);
      driver
          .controller()
          .listVolumes(ListVolumesRequest.getDefaultInstance())
          .getEntriesList()
          .forEach(entry -> csi.delete(entry.getVolume().getVolumeId()));
      scratch.assertNothingLeft();
    }
  }

  @SuppressWarnings("unchecked")
  private void call(FileModeDriver driver, Scratch scratch, MethodDescriptor<?, ?> any, int i) {
    MethodDescriptor<Message, Message> method = (MethodDescriptor<Message, Message>) any;
    Message prototype =
        Objects.requireNonNull(
            ((MethodDescriptor.PrototypeMarshaller<Message>) method.getRequestMarshaller())
                .getMessagePrototype());
    Message request = randomMessage(prototype, scratch, 0);
    try {
      Message response =
          ClientCalls.blockingUnaryCall(
              driver.channel(),
              method,
              CallOptions.DEFAULT.withDeadlineAfter(30, TimeUnit.SECONDS),
              request);
      assertThat(response).isNotNull();
    } catch (StatusRuntimeException e) {
      assertThat(e.getStatus().getCode())
          .as("seed %d, call %d, %s %s: %s", SEED, i, method.getFullMethodName(), request, e)
          .isIn(EXPECTED);
    }
  }

  private Message randomMessage(Message prototype, Scratch scratch, int depth) {
    Message.Builder builder = prototype.newBuilderForType();
    for (FieldDescriptor field : prototype.getDescriptorForType().getFields()) {
      if (random.nextInt(4) == 0 || depth > 4) {
        continue;
      }
      if (field.isRepeated()) {
        for (int n = random.nextInt(3); n > 0; n--) {
          builder.addRepeatedField(field, value(builder, field, scratch, depth));
        }
      } else {
        builder.setField(field, value(builder, field, scratch, depth));
      }
    }
    return builder.build();
  }

  private Object value(Message.Builder builder, FieldDescriptor field, Scratch scratch, int depth) {
    return switch (field.getJavaType()) {
      case STRING -> text(field.getName(), scratch);
      case LONG -> number();
      case INT -> (int) number();
      case BOOLEAN -> random.nextBoolean();
      case ENUM ->
          field
              .getEnumType()
              .getValues()
              .get(random.nextInt(field.getEnumType().getValues().size()));
      case MESSAGE -> randomMessage(builder.newBuilderForField(field).build(), scratch, depth + 1);
      case FLOAT, DOUBLE, BYTE_STRING -> throw new IllegalStateException("CSI has none");
    };
  }

  private long number() {
    return switch (random.nextInt(6)) {
      case 0 -> 0;
      case 1 -> -1;
      case 2 -> Long.MAX_VALUE;
      case 3 -> Long.MIN_VALUE;
      case 4 -> random.nextLong(1 << 24);
      default -> random.nextLong();
    };
  }

  private String text(String field, Scratch scratch) {
    if (field.endsWith("path") && random.nextInt(2) == 0) {
      // never a path outside of the test's folder: a wrong driver must not hurt anybody
      return scratch.pod("fuzz" + random.nextInt(3)).toString();
    }
    if (field.equals("volume_id") && random.nextInt(2) == 0) {
      return knownIds.getFirst();
    }
    String[] odd = {
      "",
      " ",
      "a",
      "..",
      "x".repeat(300),
      "\u0000",
      "\n",
      "ünï",
      "true",
      "ext4",
      "size",
      "16Mi",
      "eraseafter",
      "kataContainers",
      "csi.storage.k8s.io/ephemeral",
      "name",
      "bind",
      "-o",
      "$(id)",
      "\ud83d\ude00",
      "../../x",
      "fuzz",
      FileModeDriver.NODE
    };
    return odd[random.nextInt(odd.length)];
  }
}
