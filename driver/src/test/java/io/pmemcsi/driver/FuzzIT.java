package io.pmemcsi.driver;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import csi.v1.ControllerGrpc;
import csi.v1.GroupControllerGrpc;
import csi.v1.IdentityGrpc;
import csi.v1.ListVolumesRequest;
import csi.v1.NodeGrpc;
import csi.v1.SnapshotMetadataGrpc;
import csi.v1.Volume;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every call with every field left out, odd or enormous, on volumes in every state, under a seed
 * that is printed on failure: no crash, no hang, the status that {@link FuzzOracle} expects, no
 * change by a failed call, and no leaks.
 */
class FuzzIT {

  private static final int CALLS = Boolean.getBoolean("pmem-csi.campaign") ? 20_000 : 600;
  private static final int PATHS = 6;
  private static final long SEED = Long.getLong("pmem-csi.fuzz.seed", 20261115);

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final List<String> knownIds = new ArrayList<>();
  private final Map<Boolean, Integer> outcomes = new HashMap<>();

  @Test
  void everyCallGetsTheExpectedStatusAndAFailedOneChangesNothing() throws IOException {
    try (Scratch scratch = new Scratch();
        FileModeDriver driver = FileModeDriver.start(scratch.directory())) {
      prepare(new Calls(driver), scratch);
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
      // prefer calls that reach a volume over unimplemented ones
      methods.addAll(NodeGrpc.getServiceDescriptor().getMethods());
      for (int i = 0; i < CALLS; i++) {
        call(driver, scratch, methods.get(random.nextInt(methods.size())), i);
      }
      assertThat(outcomes.get(true)).as("calls that did something").isGreaterThan(CALLS / 20);
      assertThat(outcomes.get(false)).as("refused calls").isGreaterThan(CALLS / 20);
      cleanUp(new Calls(driver), driver, scratch);
      scratch.assertNothingLeft();
    }
  }

  /** A volume in each state of its lifecycle. */
  private void prepare(Calls csi, Scratch scratch) {
    Volume fresh = csi.create("fuzz", 16 << 20);
    Volume staged = csi.create("fuzz-staged", 16 << 20);
    csi.stage(staged, scratch.pod("fuzz0"), Calls.mount("ext4"));
    Volume published = csi.create("fuzz-published", 16 << 20);
    csi.stage(published, scratch.pod("fuzz1"), Calls.mount("ext4"));
    csi.publish(published, scratch.pod("fuzz1"), scratch.pod("fuzz2"), Calls.mount("ext4"));
    Volume raw = csi.create("fuzz-raw", 16 << 20);
    csi.publish(raw, scratch.pod("fuzz3"), scratch.pod("fuzz3"), Calls.block());
    csi.publish(
        Calls.ephemeral("fuzz-pod", scratch.pod("fuzz4"), Calls.mount(""), Map.of("size", "16Mi")));
    for (Volume volume : List.of(fresh, staged, published, raw)) {
      knownIds.add(volume.getVolumeId());
    }
    knownIds.add("fuzz-pod");
  }

  private void cleanUp(Calls csi, FileModeDriver driver, Scratch scratch) throws IOException {
    List<String> ids =
        new ArrayList<>(
            driver
                .controller()
                .listVolumes(ListVolumesRequest.getDefaultInstance())
                .getEntriesList()
                .stream()
                .map(entry -> entry.getVolume().getVolumeId())
                .toList());
    for (Path path : scratch.mounts().reversed()) {
      for (String id : ids) {
        try {
          csi.unpublish(id, path);
          csi.unstage(id, path);
        } catch (StatusRuntimeException e) {
          // another volume is mounted there, or this one no longer exists
          assertThat(e.getStatus().getCode())
              .as(e.getMessage())
              .isIn(Status.Code.FAILED_PRECONDITION, Status.Code.NOT_FOUND);
        }
      }
    }
    ids.forEach(csi::delete);
    for (int i = 0; i < PATHS; i++) {
      Files.deleteIfExists(scratch.pod("fuzz" + i));
    }
  }

  @SuppressWarnings("unchecked")
  private void call(FileModeDriver driver, Scratch scratch, MethodDescriptor<?, ?> any, int i)
      throws IOException {
    MethodDescriptor<Message, Message> method = (MethodDescriptor<Message, Message>) any;
    Message prototype =
        Objects.requireNonNull(
            ((MethodDescriptor.PrototypeMarshaller<Message>) method.getRequestMarshaller())
                .getMessagePrototype());
    Message request = randomMessage(prototype, scratch, 0);
    FuzzOracle oracle = FuzzOracle.of(request, Ledger.openForReading(scratch.state()));
    List<String> before = snapshot(scratch);
    Status status = Status.OK;
    try {
      Message response =
          ClientCalls.blockingUnaryCall(
              driver.channel(),
              method,
              CallOptions.DEFAULT.withDeadlineAfter(240, TimeUnit.SECONDS),
              request);
      assertThat(response).isNotNull();
    } catch (StatusRuntimeException e) {
      status = e.getStatus();
    }
    String description = String.valueOf(status.getDescription());
    assertThat(oracle.allows(status.getCode(), description))
        .as(
            "seed %d, call %d, %s {%s} got %s %s, expected %s",
            SEED, i, method.getFullMethodName(), request, status.getCode(), description, oracle)
        .isTrue();
    assertThat(description).doesNotContainPattern(CsiAssert.NAME_OF_A_CLASS);
    if (!status.isOk()) {
      assertThat(snapshot(scratch))
          .as("after seed %d, call %d, %s {%s}: %s", SEED, i, method, request, status)
          .isEqualTo(before);
    }
    outcomes.merge(status.isOk(), 1, Integer::sum);
  }

  /** Ledger, devices and mounts as they are now. */
  private static List<String> snapshot(Scratch scratch) throws IOException {
    List<String> all = new ArrayList<>();
    try (Stream<Path> files = Files.walk(scratch.state())) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        boolean record = file.toString().endsWith(".json");
        all.add(file + " " + (record ? Files.readString(file) : Files.size(file)));
      }
    }
    scratch.mounts().forEach(mount -> all.add("mounted: " + mount));
    return all;
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
    if (random.nextInt(8) == 0) {
      // newer clients send unknown fields
      builder.setUnknownFields(
          UnknownFieldSet.newBuilder()
              .addField(
                  19_000 + random.nextInt(900) * 1_000,
                  UnknownFieldSet.Field.newBuilder().addVarint(random.nextLong()).build())
              .build());
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
          field.getName().equals("mode") && random.nextInt(3) != 0
              ? field.getEnumType().findValueByName("SINGLE_NODE_WRITER")
              : field
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
    if (field.endsWith("path") && random.nextInt(4) != 0) {
      // never a path outside of the test's directory: a defect of the driver must not damage the
      // machine
      return scratch.pod("fuzz" + random.nextInt(PATHS)).toString();
    }
    if (field.equals("volume_id") && random.nextInt(4) != 0) {
      return knownIds.get(random.nextInt(knownIds.size()));
    }
    if (field.equals("fs_type") && random.nextInt(4) != 0) {
      return random.nextBoolean() ? "" : "ext4";
    }
    if (random.nextInt(8) == 0) {
      return random
          .ints(random.nextInt(20), 1, 0xd800)
          .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
          .toString();
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
