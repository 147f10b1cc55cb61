package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import csi.v1.GetCapacityRequest;
import csi.v1.GetPluginInfoRequest;
import csi.v1.Volume;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.command.Command;
import io.pmemcsi.driver.command.CommandResult;
import io.pmemcsi.driver.command.CommandRunner;
import io.pmemcsi.driver.command.ProcessRunner;
import io.pmemcsi.driver.volume.DurableFiles;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The server around the calls: its socket, its limits, its metrics, its end. */
class ServerIT {

  private final Scratch scratch = new Scratch();

  @AfterEach
  void lookForLeaks() throws IOException {
    Files.deleteIfExists(scratch.pod("staging"));
    try (scratch) {
      scratch.assertNothingLeft();
    }
  }

  private static String info(FileModeDriver driver) {
    return driver.identity().getPluginInfo(GetPluginInfoRequest.getDefaultInstance()).getName();
  }

  @Test
  void theSocketOfACrashedDriverIsReplaced() throws IOException {
    Path socket = scratch.folder().resolve("csi.sock");
    try (ServerSocketChannel stale = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      stale.bind(UnixDomainSocketAddress.of(socket));
    }
    assertThat(socket).exists();

    try (FileModeDriver driver = FileModeDriver.start(scratch.folder())) {
      assertThat(info(driver)).isEqualTo(FileModeDriver.NAME);
    }
    assertThat(socket).doesNotExist();
  }

  @Test
  void theSocketOfALivingDriverIsLeftAlone() {
    try (FileModeDriver driver = FileModeDriver.start(scratch.folder())) {
      assertThatExceptionOfType(FatalException.class)
          .isThrownBy(
              () ->
                  NodeDriver.start(
                      FileModeDriver.settings(scratch.folder())
                          .withStatePath(scratch.folder().resolve("other"))))
          .withMessageContaining("another process listens");
      assertThat(info(driver)).isEqualTo(FileModeDriver.NAME);
    }
  }

  @Test
  void aFileInPlaceOfTheSocketIsLeftAlone() throws IOException {
    Files.writeString(scratch.folder().resolve("csi.sock"), "data");

    assertThatExceptionOfType(FatalException.class)
        .isThrownBy(() -> FileModeDriver.start(scratch.folder()))
        .withMessageContaining("is not a socket");
    assertThat(scratch.folder().resolve("csi.sock")).hasContent("data");
  }

  @Test
  void aSocketThatCannotBeMadeIsFatal() throws IOException {
    Path folder = scratch.folder().resolve("x".repeat(120));
    Files.createDirectory(folder);

    assertThatExceptionOfType(FatalException.class)
        .isThrownBy(() -> FileModeDriver.start(folder))
        .withMessageContaining("cannot listen on unix:///")
        .withMessageEndingWith("; correct -endpoint, or make the folder of the socket");
    Files.deleteIfExists(folder.resolve("state/contents"));
  }

  @Test
  void aMessageThatIsTooLargeIsRefusedWithTheUsualWords() {
    try (FileModeDriver driver = FileModeDriver.start(scratch.folder())) {
      Calls csi = new Calls(driver);

      assertThatCall(
              () -> csi.create(Calls.request("pvc", MIB).putParameters("x", "y".repeat(5 << 20))))
          .fails(Status.Code.RESOURCE_EXHAUSTED, "received message larger than max");
      assertThat(info(driver)).isEqualTo(FileModeDriver.NAME);
    }
  }

  @Test
  void metricsTellTheAmountsTheCallsAndTheVersion() throws Exception {
    try (FileModeDriver driver = FileModeDriver.start(scratch.folder())) {
      Calls csi = new Calls(driver);
      Volume volume = csi.create("pvc", 4 * MIB);
      assertThatCall(() -> csi.create("", MIB)).fails(Status.Code.INVALID_ARGUMENT);
      csi.delete(volume.getVolumeId());

      String metrics = get(driver, "/metrics");
      String labels = "{driver_name=\"pmem-csi.intel.com\",node=\"node-1\"} ";
      assertThat(metrics)
          .contains("pmem_amount_available" + labels)
          .contains("pmem_amount_max_volume_size" + labels)
          .contains("pmem_amount_managed" + labels)
          .contains("pmem_amount_total" + labels)
          .contains(
              "csi_plugin_operations_seconds_count{driver_name=\"pmem-csi.intel.com\",grpc_status_code=\"OK\",method_name=\"/csi.v1.Controller/CreateVolume\"}"
                  + " 1")
          .contains("grpc_status_code=\"InvalidArgument\"")
          .contains("le=\"600.0\"")
          .contains("build_info{version=")
          .contains("jvm_memory")
          .contains("process_")
          .contains("pmem_csi_audit_findings{kind=\"device-without-record\"} 0");
      assertThat(get(driver, "/metrics/simple")).contains("build_info").doesNotContain("pmem_");
    }
  }

  private static String get(FileModeDriver driver, String path) throws Exception {
    int port = driver.driver().metricsPort().orElseThrow();
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d%s".formatted(port, path)))
                  .build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    }
  }

  @Test
  void callsThatAreUnderWayFinishWhenTheDriverStops() throws Exception {
    CountDownLatch formatting = new CountDownLatch(1);
    ProcessRunner real = new ProcessRunner();
    CommandRunner slow =
        command -> {
          if (command.program().startsWith("mkfs")) {
            formatting.countDown();
            real.run(Command.of("sleep", "1"));
          }
          return real.run(command);
        };
    FileModeDriver driver =
        FileModeDriver.start(scratch.folder(), slow, new DurableFiles(), FileModeDriver.POOL);
    Volume volume = new Calls(driver).create("pvc", 16 * MIB);
    Thread caller =
        Thread.ofVirtual()
            .start(() -> new Calls(driver).stage(volume, scratch.pod("staging"), mount("ext4")));
    assertThat(formatting.await(120, SECONDS)).isTrue();

    driver.driver().close();
    caller.join();
    driver.close();

    assertThat(scratch.mounts()).containsExactly(scratch.pod("staging"));
    try (FileModeDriver next = FileModeDriver.start(scratch.folder())) {
      new Calls(next).unstage(volume.getVolumeId(), scratch.pod("staging"));
      new Calls(next).delete(volume.getVolumeId());
    }
  }

  @Test
  void aCancelledCallKillsItsCommandAndCanBeRepeated() throws Exception {
    CountDownLatch formatting = new CountDownLatch(1);
    CountDownLatch killed = new CountDownLatch(1);
    ProcessRunner real = new ProcessRunner();
    CommandRunner hanging =
        command -> {
          if (command.program().startsWith("mkfs") && formatting.getCount() > 0) {
            formatting.countDown();
            try {
              return real.run(Command.of("sleep", "600"));
            } finally {
              killed.countDown();
            }
          }
          return real.run(command);
        };
    try (FileModeDriver driver =
        FileModeDriver.start(scratch.folder(), hanging, new DurableFiles(), FileModeDriver.POOL)) {
      Calls csi = new Calls(driver);
      Volume volume = csi.create("pvc", 16 * MIB);
      Context.CancellableContext call = Context.current().withCancellation();
      Runnable stage =
          () ->
              assertThatExceptionOfType(StatusRuntimeException.class)
                  .isThrownBy(() -> csi.stage(volume, scratch.pod("staging"), mount("")));
      Thread caller = Thread.ofVirtual().start(call.wrap(stage));
      assertThat(formatting.await(120, SECONDS)).isTrue();

      call.cancel(null);

      assertThat(killed.await(120, SECONDS)).isTrue();
      caller.join();
      await()
          .atMost(120, SECONDS)
          .ignoreExceptions()
          .until(
              () -> {
                csi.stage(volume, scratch.pod("staging"), mount(""));
                return true;
              });
      csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
      csi.delete(volume.getVolumeId());
    }
  }

  @Test
  void aCancelledCreationLeavesNothingAndTheCapacityStaysKnown() throws Exception {
    CountDownLatch attaching = new CountDownLatch(1);
    ProcessRunner real = new ProcessRunner();
    CommandRunner hanging =
        command -> {
          CommandResult result = real.run(command);
          if (attaches(command)) {
            attaching.countDown();
            return real.run(Command.of("sleep", "600"));
          }
          return result;
        };
    try (FileModeDriver driver = start(hanging)) {
      Calls csi = new Calls(driver);
      Context.CancellableContext call = Context.current().withCancellation();
      Runnable create =
          () ->
              assertThatExceptionOfType(StatusRuntimeException.class)
                  .isThrownBy(() -> csi.create("pvc", 16 * MIB));
      Thread caller = Thread.ofVirtual().start(call.wrap(create));
      assertThat(attaching.await(120, SECONDS)).isTrue();

      call.cancel(null);

      caller.join();
      await().atMost(120, SECONDS).untilAsserted(scratch::assertNothingLeft);
      assertThat(
              driver
                  .controller()
                  .getCapacity(GetCapacityRequest.getDefaultInstance())
                  .getAvailableCapacity())
          .isEqualTo(FileModeDriver.POOL);
    }
  }

  /**
   * All else that has to be done is done by the kernel; losetup is only asked where devices are.
   */
  @Test
  void aVolumeForAPodTakesACommandForTheDeviceAndOneForTheFilesystem() throws IOException {
    List<String> programs = Collections.synchronizedList(new ArrayList<>());
    ProcessRunner real = new ProcessRunner();
    CommandRunner counting =
        command -> {
          if (!command.argv().contains("--list")) {
            programs.add(command.program());
          }
          return real.run(command);
        };
    try (FileModeDriver driver = start(counting)) {
      Calls csi = new Calls(driver);
      programs.clear();

      Volume volume = csi.create("pvc", 16 * MIB);
      csi.stage(volume, scratch.pod("staging"), mount("ext4"));
      csi.publish(volume, scratch.pod("staging"), scratch.pod("pod"), mount("ext4"));

      assertThat(programs).containsExactly("losetup", "mkfs.ext4");
      csi.unpublish(volume.getVolumeId(), scratch.pod("pod"));
      csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
      csi.delete(volume.getVolumeId());
    }
    Files.delete(scratch.pod("staging"));
  }

  @Test
  void aFailingCommandReachesTheCallerAndLeavesNothing() {
    ProcessRunner real = new ProcessRunner();
    CommandRunner noLoopDevices =
        command ->
            real.run(
                attaches(command)
                    ? Command.of("sh", "-c", "echo losetup: cannot find an unused one >&2; exit 1")
                    : command);
    try (FileModeDriver driver = start(noLoopDevices)) {

      assertThatCall(() -> new Calls(driver).create("pvc", 16 * MIB))
          .fails(Status.Code.INTERNAL, "cannot find an unused one");
    }
  }

  @Test
  void aFailedCreationThatCannotBeUndoneIsFinishedByTheNextCall() {
    ProcessRunner real = new ProcessRunner();
    boolean[] broken = {true};
    CommandRunner sometimes =
        command -> {
          if (broken[0] && attaches(command)) {
            real.run(command);
          }
          boolean fails = broken[0] && (attaches(command) || command.argv().contains("--detach"));
          return real.run(fails ? Command.of("false") : command);
        };
    try (FileModeDriver driver = start(sometimes)) {
      Calls csi = new Calls(driver);
      assertThatCall(() -> csi.create("pvc", 16 * MIB)).fails(Status.Code.ABORTED, "taken back");
      assertThat(NodeDriver.audit(FileModeDriver.settings(scratch.folder())).toString())
          .contains("unfinished-create");

      broken[0] = false;
      csi.create("pvc", 16 * MIB);
      csi.deleteByName("pvc");
    }
  }

  private static boolean attaches(Command command) {
    return command.program().equals("losetup") && command.argv().contains("--find");
  }

  private FileModeDriver start(CommandRunner runner) {
    return FileModeDriver.start(scratch.folder(), runner, new DurableFiles(), FileModeDriver.POOL);
  }

  /** Lets the first mkfs wait until somebody lets it go on. */
  private static final class WaitingMkfs implements CommandRunner {
    final CountDownLatch reached = new CountDownLatch(1);
    final CountDownLatch mayGoOn = new CountDownLatch(1);
    final AtomicInteger started = new AtomicInteger();
    private final ProcessRunner real = new ProcessRunner();

    @Override
    public CommandResult run(Command command) {
      if (command.program().startsWith("mkfs") && started.incrementAndGet() == 1) {
        reached.countDown();
        try {
          assertThat(mayGoOn.await(120, SECONDS)).isTrue();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      return real.run(command);
    }
  }

  @Test
  void callsForOneVolumeWaitForEachOtherAndCallsForOthersDoNot() throws Exception {
    WaitingMkfs mkfs = new WaitingMkfs();
    try (FileModeDriver driver = start(mkfs);
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Calls csi = new Calls(driver);
      Volume slow = csi.create("slow", 16 * MIB);
      Volume other = csi.create("other", 16 * MIB);
      List<Future<?>> calls = new ArrayList<>();
      calls.add(callers.submit(() -> csi.stage(slow, scratch.pod("slow"), mount("ext4"))));
      assertThat(mkfs.reached.await(120, SECONDS)).isTrue();

      calls.add(callers.submit(() -> csi.stage(slow, scratch.pod("slow"), mount("ext4"))));
      calls.add(callers.submit(() -> csi.delete(slow.getVolumeId())));
      csi.stage(other, scratch.pod("other"), mount("ext4"));
      csi.unstage(other.getVolumeId(), scratch.pod("other"));
      csi.delete(other.getVolumeId());
      assertThat(calls).noneMatch(Future::isDone);
      assertThat(mkfs.started).hasValue(2);

      mkfs.mayGoOn.countDown();

      calls.get(0).get();
      calls.get(1).get();
      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(() -> calls.get(2).get())
          .withMessageContaining("FAILED_PRECONDITION")
          .withMessageContaining("mounted at");
      assertThat(mkfs.started).as("formatted once each").hasValue(2);
      csi.unstage(slow.getVolumeId(), scratch.pod("slow"));
      csi.delete(slow.getVolumeId());
    }
    Files.delete(scratch.pod("slow"));
    Files.delete(scratch.pod("other"));
  }

  @Test
  void anEphemeralAndAPersistentVolumeOfOneNameNeverMix() throws Exception {
    try (FileModeDriver driver = FileModeDriver.start(scratch.folder());
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Calls csi = new Calls(driver);
      for (int round = 0; round < (Boolean.getBoolean("pmem-csi.campaign") ? 100 : 10); round++) {
        Future<Boolean> persistent =
            callers.submit(() -> isFirst(() -> csi.create("same", 16 * MIB)));
        Future<Boolean> ephemeral =
            callers.submit(
                () ->
                    isFirst(
                        () ->
                            csi.publish(
                                Calls.ephemeral(
                                    "same",
                                    scratch.pod("pod"),
                                    mount(""),
                                    Map.of("size", "16Mi")))));

        assertThat(persistent.get()).as("round %d", round).isNotEqualTo(ephemeral.get());
        if (ephemeral.get()) {
          csi.unpublish("same", scratch.pod("pod"));
        } else {
          csi.deleteByName("same");
        }
        scratch.assertNothingLeft();
      }
    }
  }

  private static boolean isFirst(Runnable call) {
    try {
      call.run();
      return true;
    } catch (StatusRuntimeException e) {
      assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.ALREADY_EXISTS);
      return false;
    }
  }
}
