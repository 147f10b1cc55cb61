package io.pmemcsi.driver.volume.store;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateDirectory;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.state.StateFiles;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The source of truth for the volumes that this driver owns: one record per volume in memory, and
 * two files on disk.
 *
 * <p>The entry is the file that the original driver writes. The state of the device is in a file of
 * its own, in the directory {@code contents}: the original refuses entries with unknown keys and
 * takes further {@code *.json} files beside them for volumes, but it ignores directories. A volume
 * without a state file was created by the original.
 *
 * <p>A file that cannot be parsed stays where it is and blocks its own volume only.
 */
public final class Ledger {
  private static final Logger LOG = LoggerFactory.getLogger(Ledger.class);
  private static final String SUFFIX = ".json";

  private final Path directory;
  private final Path stateDirectory;
  private final StateFiles files;
  private final Map<VolumeId, VolumeRecord> records = new ConcurrentSkipListMap<>();
  private final Set<VolumeId> orphanedStates = new ConcurrentSkipListSet<>();
  private final Map<VolumeId, String> damaged = new ConcurrentSkipListMap<>();
  private final Set<VolumeId> unrecordedDeletions = new ConcurrentSkipListSet<>();
  private final AtomicLong changes = new AtomicLong();

  private Ledger(Path directory, StateFiles files) {
    this.directory = directory;
    this.stateDirectory = StateDirectory.Part.CONTENTS.in(directory);
    this.files = files;
  }

  /** Opens the ledger in a state directory, which is created when its parent exists. */
  public static Ledger open(Path directory, StateFiles files) {
    Ledger ledger = new Ledger(directory, files);
    StateDirectory.create(directory);
    StateDirectory.createInside(ledger.stateDirectory);
    ledger.load();
    return ledger;
  }

  /** Reads the ledger of a driver that may be running; nothing is created or changed. */
  public static Ledger openForReading(Path directory) {
    if (!Files.isDirectory(directory)) {
      throw StateException.missing(
          directory, "name the state directory of a driver that has run here with -statePath");
    }
    Ledger ledger = new Ledger(directory, new DurableFiles());
    ledger.load();
    return ledger;
  }

  /** All volumes whose records could be read, ordered by ID. */
  public Collection<VolumeRecord> records() {
    return Collections.unmodifiableCollection(records.values());
  }

  /** Changes whenever an entry changes, for callers that cache something derived from them. */
  public long version() {
    return changes.get();
  }

  public Optional<VolumeRecord> find(VolumeId id) {
    return Optional.ofNullable(records.get(id));
  }

  /** The volumes whose files cannot be parsed, with the reason. */
  public Map<VolumeId, String> damaged() {
    return Collections.unmodifiableMap(damaged);
  }

  /** Why a volume cannot be used, if one of its files is damaged. */
  public Optional<String> damage(VolumeId id) {
    return Optional.ofNullable(damaged.get(id));
  }

  /** Whether there is a record of the volume, readable or not. */
  public boolean knows(VolumeId id) {
    return records.containsKey(id) || damaged.containsKey(id);
  }

  /** The IDs for which there is a state file, but no entry. */
  public Set<VolumeId> orphanedStates() {
    return Collections.unmodifiableSet(orphanedStates);
  }

  /**
   * Adds a volume; durable on return. The state is written first, so that a crash leaves no entry
   * that looks like a volume of the original driver.
   */
  public VolumeRecord add(VolumeRecord volume) {
    writeState(volume);
    orphanedStates.add(volume.id());
    writeEntry(volume);
    orphanedStates.remove(volume.id());
    return volume;
  }

  /** Records the size of the device; durable on return. */
  public VolumeRecord resize(VolumeRecord volume, long sizeBytes) {
    VolumeRecord resized = volume.withSize(sizeBytes);
    if (!resized.equals(volume)) {
      writeEntry(resized);
    }
    return resized;
  }

  /** Records the state of the device; durable on return. */
  public VolumeRecord setState(VolumeRecord volume, VolumeState state) {
    VolumeRecord changed = volume.withState(state);
    writeState(changed);
    records.put(volume.id(), changed);
    return changed;
  }

  /**
   * Records that a volume is being deleted. Deleting must not need space, because it may be what
   * frees some: where the disk is full, this is recorded in memory only. After a crash the volume
   * then has its former state, and the same DeleteVolume call finishes the deletion; a filesystem
   * that was partly erased is neither mounted nor formatted, because its signature is not found.
   */
  public VolumeRecord beginDelete(VolumeRecord volume) {
    try {
      return setState(volume, new VolumeState.Deleting());
    } catch (StateException e) {
      if (!e.isDiskFull()) {
        throw e;
      }
      LOG.atWarn()
          .addKeyValue("volume", volume.id())
          .addKeyValue("error", e.getMessage())
          .log("The state directory is full: deleting the volume without recording it first.");
      VolumeRecord deleting = volume.withState(new VolumeState.Deleting());
      unrecordedDeletions.add(volume.id());
      records.put(volume.id(), deleting);
      return deleting;
    }
  }

  /**
   * Takes back a deletion that was refused before anything was changed.
   *
   * @param volume as it was before
   */
  public void cancelDelete(VolumeRecord volume) {
    if (unrecordedDeletions.remove(volume.id())) {
      records.put(volume.id(), volume);
    } else {
      setState(volume, volume.state());
    }
  }

  /** Removes a volume: the entry first, so that a crash leaves nothing that looks usable. */
  public void remove(VolumeId id) {
    delete(entryFile(id));
    unrecordedDeletions.remove(id);
    if (records.remove(id) != null) {
      orphanedStates.add(id);
    }
    changes.incrementAndGet();
    delete(stateFile(id));
    orphanedStates.remove(id);
  }

  private void writeEntry(VolumeRecord volume) {
    write(entryFile(volume.id()), LedgerJson.writeEntry(volume));
    records.put(volume.id(), volume);
    changes.incrementAndGet();
  }

  private void writeState(VolumeRecord volume) {
    Optional<byte[]> content = LedgerJson.writeState(volume);
    if (content.isPresent()) {
      write(stateFile(volume.id()), content.get());
    } else {
      delete(stateFile(volume.id()));
    }
  }

  private void load() {
    for (String name : list(directory)) {
      id(name).ifPresent(this::loadEntry);
    }
    for (String name : list(stateDirectory)) {
      id(name).ifPresent(this::loadState);
    }
  }

  private void loadEntry(VolumeId id) {
    try {
      records.put(id, LedgerJson.readEntry(id, read(entryFile(id))));
    } catch (IOException e) {
      damaged.put(id, "ledger entry %s: %s".formatted(entryFile(id), e.getMessage()));
    }
  }

  private void loadState(VolumeId id) {
    try {
      LedgerJson.Stored stored = LedgerJson.readState(read(stateFile(id)));
      records.computeIfPresent(
          id, (_, volume) -> volume.withState(stored.state()).withOrigin(stored.origin()));
    } catch (IOException e) {
      records.remove(id);
      damaged.put(id, "contents record %s: %s".formatted(stateFile(id), e.getMessage()));
    }
    if (!knows(id)) {
      orphanedStates.add(id);
    }
  }

  private static Optional<VolumeId> id(String fileName) {
    return fileName.endsWith(SUFFIX)
        ? VolumeId.parse(fileName.substring(0, fileName.length() - SUFFIX.length()))
        : Optional.empty();
  }

  private Path entryFile(VolumeId id) {
    return directory.resolve(id + SUFFIX);
  }

  private Path stateFile(VolumeId id) {
    return stateDirectory.resolve(id + SUFFIX);
  }

  private Collection<String> list(Path where) {
    try {
      return files.list(where);
    } catch (IOException e) {
      throw new StateException("list", where, e);
    }
  }

  /** The content of a file, or a readable reason why there is none. */
  private byte[] read(Path file) throws IOException {
    try {
      return files.read(file);
    } catch (IOException e) {
      throw new IOException(Reason.of(e), e);
    }
  }

  private void write(Path file, byte[] content) {
    try {
      files.write(file, content);
    } catch (IOException e) {
      throw new StateException("write", file, e);
    }
  }

  private void delete(Path file) {
    try {
      files.delete(file);
    } catch (IOException e) {
      throw new StateException("delete", file, e);
    }
  }
}
