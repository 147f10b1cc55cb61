package io.pmemcsi.driver.volume.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.volume.Origin;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.VolumeState.Filesystem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class LedgerTest {

  private static final VolumeId ID = VolumeId.fromName("pvc-1");
  private static final VolumeRecord ENTRY =
      new VolumeRecord(
          ID,
          (1L << 53) + 1,
          VolumeParameters.DEFAULTS.named("pvc-1", DeviceMode.LVM),
          new VolumeState.Legacy());

  @TempDir private Path parent;
  private Path directory;

  @BeforeEach
  void choose() {
    directory = parent.resolve("state");
  }

  private Ledger open() {
    return Ledger.open(directory, new DurableFiles());
  }

  @Test
  void anEntrySurvivesARestart() {
    open().add(ENTRY);

    assertThat(open().find(ID)).contains(ENTRY);
  }

  static Stream<Origin> origins() {
    VolumeId source = VolumeId.fromName("source");
    return Stream.of(
        new Origin.Blank(),
        new Origin.CopyOfVolume(source),
        new Origin.CopyOfSnapshot(source),
        new Origin.SnapshotOf(source, Instant.parse("2026-11-17T12:34:56.789Z")));
  }

  @ParameterizedTest
  @MethodSource("origins")
  void theOriginSurvivesARestartAndChangesOfTheState(Origin origin) {
    VolumeRecord copy = ENTRY.withOrigin(origin).withState(new VolumeState.Creating());
    Ledger ledger = open();

    VolumeRecord changed = ledger.setState(ledger.add(copy), new VolumeState.RawBlock());

    assertThat(changed.origin()).isEqualTo(origin);
    assertThat(open().find(ID)).contains(changed);
  }

  @Test
  void anEntryIsOneLineOfJsonThatOnlyItsOwnerReads() throws IOException {
    open().add(ENTRY);

    Path file = directory.resolve(ID + ".json");
    assertThat(file)
        .hasContent(
            "{\"id\":\"%s\",\"size\":9007199254740993,\"parameters\":{\"deviceMode\":\"lvm\",\"eraseafter\":\"true\",\"name\":\"pvc-1\",\"persistencyModel\":\"normal\"}}\n"
                .formatted(ID));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory)))
        .isEqualTo("rwx------");
  }

  @Test
  void anEntryOfTheOriginalDriverIsRead() throws IOException {
    Files.createDirectory(directory);
    Files.writeString(
        directory.resolve("pvc-84-95bcf28c30817baa69f91446f3a9a729dfc638e7c9e4f66801efcf92.json"),
        """
        {"id":"pvc-84-95bcf28c30817baa69f91446f3a9a729dfc638e7c9e4f66801efcf92","size":8388608,\
        "parameters":{"deviceMode":"direct","eraseafter":"false","kataContainers":"true",\
        "name":"pvc-84236392-ccc8-4746-af67-04afe231a9a5","persistencyModel":"normal"}}
        """);
    Files.createDirectory(directory.resolve("mount"));

    VolumeRecord entry = open().records().iterator().next();

    assertThat(entry.name()).isEqualTo("pvc-84236392-ccc8-4746-af67-04afe231a9a5");
    assertThat(entry.parameters().eraseAfter()).isFalse();
    assertThat(entry.parameters().kataContainers()).isTrue();
    assertThat(entry.parameters().deviceMode()).contains(DeviceMode.DIRECT);
    assertThat(entry.state()).isEqualTo(new VolumeState.Legacy());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "{\"id\":\"",
        "[]",
        "null",
        "{\"id\":\"other\",\"size\":1,\"parameters\":{}}",
        "{\"id\":\"ID\",\"size\":\"1\",\"parameters\":{}}",
        "{\"id\":\"ID\",\"size\":1.5,\"parameters\":{}}",
        "{\"id\":\"ID\",\"size\":-1,\"parameters\":{}}",
        "{\"id\":\"ID\",\"size\":1,\"parameters\":{\"what\":\"x\"}}",
        "{\"id\":\"ID\",\"size\":1,\"parameters\":{},\"extra\":1}",
        "{\"id\":\"ID\",\"size\":1,\"parameters\":{}} trailing"
      })
  void aDamagedEntryBlocksOneVolumeAndStaysForInspection(String content) throws IOException {
    open().add(ENTRY);
    VolumeId other = VolumeId.fromName("pvc-2");
    Path file = directory.resolve(other + ".json");
    Files.writeString(file, content.replace("ID", other.value()));

    Ledger ledger = open();

    assertThat(ledger.find(ID)).isPresent();
    assertThat(ledger.find(other)).isEmpty();
    assertThat(ledger.damage(other)).get().asString().contains(file.toString());
    assertThat(file).exists();
  }

  @Test
  void aDamagedContentsRecordBlocksItsVolume() throws IOException {
    Ledger ledger = open();
    ledger.add(ENTRY.withState(VolumeState.Blank.wiped()));
    Files.writeString(directory.resolve("contents").resolve(ID + ".json"), "{\"state\":\"bl");

    assertThat(open().find(ID)).isEmpty();
    assertThat(open().damage(ID)).isPresent();
  }

  @ParameterizedTest
  @MethodSource("allContents")
  void theVolumeStateSurvivesARestart(VolumeState contents) {
    open().setState(open().add(ENTRY), contents);

    assertThat(open().find(ID)).contains(ENTRY.withState(contents));
  }

  static Stream<VolumeState> allContents() {
    Filesystem filesystem = new Filesystem("ext4", UUID.randomUUID());
    return Stream.of(
        new VolumeState.Creating(),
        VolumeState.Blank.wiped(),
        new VolumeState.Blank(Optional.empty()),
        new VolumeState.Formatted(filesystem),
        new VolumeState.Formatted(
            filesystem, Optional.of(new Filesystem("xfs", UUID.randomUUID()))),
        new VolumeState.RawBlock(),
        new VolumeState.Legacy(),
        new VolumeState.Deleting());
  }

  @Test
  void aRemovedVolumeLeavesNothing() throws IOException {
    Ledger ledger = open();
    ledger.add(ENTRY.withState(VolumeState.Blank.wiped()));

    ledger.remove(ID);
    ledger.remove(ID);

    assertThat(open().records()).isEmpty();
    assertThat(open().orphanedStates()).isEmpty();
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).containsExactly(directory.resolve("contents"));
    }
  }

  @Test
  void aVolumeOfAnEarlierReleaseHasNoStateFile() {
    Ledger ledger = open();
    VolumeRecord volume = ledger.add(ENTRY);
    Path file = directory.resolve("contents").resolve(ID + ".json");
    assertThat(file).doesNotExist();

    VolumeRecord deleting = ledger.setState(volume, new VolumeState.Deleting());
    assertThat(file).exists();
    ledger.setState(deleting, new VolumeState.Legacy());

    assertThat(file).doesNotExist();
    assertThat(open().find(ID)).contains(ENTRY);
  }

  @Test
  void aStateWithoutAnEntryIsAnOrphan() {
    Ledger ledger = open();
    ledger.add(ENTRY.withState(new VolumeState.Creating()));
    assertThat(ledger.orphanedStates()).isEmpty();
    assertThat(directory.resolve(ID + ".json").toFile().delete()).isTrue();

    assertThat(open().orphanedStates()).containsExactly(ID);
    assertThat(open().find(ID)).isEmpty();
  }

  @Test
  void aTemporaryFileOfACrashIsIgnored() throws IOException {
    Files.createDirectory(directory);
    Files.writeString(directory.resolve(ID + ".json.tmp"), "{\"id\":");

    Ledger ledger = open();
    ledger.add(ENTRY);

    assertThat(ledger.damaged()).isEmpty();
    assertThat(open().find(ID)).contains(ENTRY);
  }

  @Test
  void entriesAreSortedByTheirId() {
    Ledger ledger = open();
    IntStream.range(0, 50)
        .mapToObj(i -> "pvc-" + i)
        .forEach(
            name ->
                ledger.add(
                    new VolumeRecord(
                        VolumeId.fromName(name),
                        1,
                        VolumeParameters.DEFAULTS.named(name, DeviceMode.FILE),
                        new VolumeState.Legacy())));

    assertThat(open().records()).extracting(VolumeRecord::id).isSorted().hasSize(50);
  }

  @Test
  void manyThreadsWriteConcurrently() throws InterruptedException {
    Ledger ledger = open();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      String name = "pvc-" + i;
      threads.add(
          Thread.ofVirtual()
              .start(
                  () ->
                      ledger.add(
                          new VolumeRecord(
                              VolumeId.fromName(name),
                              1,
                              VolumeParameters.DEFAULTS.named(name, DeviceMode.FILE),
                              new VolumeState.Legacy()))));
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(open().records()).hasSize(20);
  }

  @Test
  void theParentOfTheStateDirectoryMustExist() {
    directory = parent.resolve("missing").resolve("state");

    assertThatExceptionOfType(StateException.class)
        .isThrownBy(this::open)
        .withMessage(
            "directory %s does not exist: create it for the state directory, or name another one"
                + " with -statePath",
            directory.getParent());
  }

  @Test
  void readingAMissingStateDirectoryFailsAndDoesNotCreateIt() {
    assertThatExceptionOfType(StateException.class)
        .isThrownBy(() -> Ledger.openForReading(directory))
        .withMessageStartingWith("directory " + directory + " does not exist");
    assertThat(directory).doesNotExist();
  }

  @Test
  void aFileIsNotAStateDirectory() throws IOException {
    Files.writeString(directory, "");

    assertThatExceptionOfType(StateException.class).isThrownBy(this::open);
  }
}
