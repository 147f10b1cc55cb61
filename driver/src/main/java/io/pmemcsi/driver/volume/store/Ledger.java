package io.pmemcsi.driver.volume.store;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateDirectory;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.state.StateFiles;
import io.pmemcsi.driver.volume.VolumeState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The truth about which volumes this driver owns: one file per volume in the state folder, the same
 * as the original driver writes, and all of it in memory.
 *
 * <p>What is on a volume's device stands in files of their own, in the folder {@code contents}: the
 * original refuses entries with unknown keys and would take further {@code *.json} files beside
 * them for volumes, but it leaves folders alone. A volume without such a file was made by the
 * original.
 *
 * <p>A file that cannot be understood stays where it is and blocks its own volume only.
 */
public final class Ledger {

  private static final String SUFFIX = ".json";

  private final Path folder;
  private final Path contentsFolder;
  private final StateFiles files;
  private final Map<VolumeId, LedgerEntry> entries = new ConcurrentSkipListMap<>();
  private final Map<VolumeId, VolumeState> contents = new ConcurrentSkipListMap<>();
  private final Map<VolumeId, String> damaged = new ConcurrentSkipListMap<>();
  private final AtomicLong changes = new AtomicLong();

  private Ledger(Path folder, StateFiles files) {
    this.folder = folder;
    this.contentsFolder = folder.resolve("contents");
    this.files = files;
  }

  /** Opens the ledger in a state folder, which is made when its parent exists. */
  public static Ledger open(Path stateFolder, StateFiles files) {
    Ledger ledger = new Ledger(stateFolder, files);
    StateDirectory.create(stateFolder);
    StateDirectory.createInside(ledger.contentsFolder);
    ledger.load();
    return ledger;
  }

  /** Reads the ledger of a driver that may be running; nothing is made or changed. */
  public static Ledger openForReading(Path stateFolder) {
    if (!Files.isDirectory(stateFolder)) {
      throw StateException.missing(
          stateFolder, "name the state directory of a driver that has run here with -statePath");
    }
    Ledger ledger = new Ledger(stateFolder, new DurableFiles());
    ledger.load();
    return ledger;
  }

  /** All volumes that can be used, in the order of their ids. */
  public Collection<LedgerEntry> entries() {
    return Collections.unmodifiableCollection(entries.values());
  }

  /** Another number after each change of an entry, for whoever keeps something made of them. */
  public long version() {
    return changes.get();
  }

  public Optional<LedgerEntry> find(VolumeId id) {
    return Optional.ofNullable(entries.get(id));
  }

  /** The volumes whose files cannot be understood, with the reason. */
  public Map<VolumeId, String> damaged() {
    return Collections.unmodifiableMap(damaged);
  }

  /** Why a volume cannot be used, if it is damaged. */
  public Optional<String> damage(VolumeId id) {
    return Optional.ofNullable(damaged.get(id));
  }

  /** What is known about the content of a volume; nothing for volumes of the original driver. */
  public Optional<VolumeState> contents(VolumeId id) {
    return Optional.ofNullable(contents.get(id));
  }

  /** The volumes for which something is known about their content, entry or not. */
  public Collection<VolumeId> withContents() {
    return Collections.unmodifiableCollection(contents.keySet());
  }

  /** Makes or replaces an entry; on disk when this returns. */
  public void write(LedgerEntry entry) {
    write(file(entry.id()), LedgerJson.write(entry));
    entries.put(entry.id(), entry);
    changes.incrementAndGet();
  }

  /** Records what is on a device; on disk when this returns. */
  public void write(VolumeId id, VolumeState what) {
    write(contentsFile(id), LedgerJson.write(what));
    contents.put(id, what);
  }

  /**
   * Forgets a volume: first the entry, so that a crash between leaves nothing that looks usable.
   */
  public void remove(VolumeId id) {
    delete(file(id));
    entries.remove(id);
    changes.incrementAndGet();
    delete(contentsFile(id));
    contents.remove(id);
  }

  private void load() {
    for (String name : list(folder)) {
      id(name).ifPresent(this::loadEntry);
    }
    for (String name : list(contentsFolder)) {
      id(name).ifPresent(this::loadContents);
    }
  }

  private void loadEntry(VolumeId id) {
    try {
      entries.put(id, LedgerJson.readEntry(id, read(file(id))));
    } catch (IOException e) {
      damaged.put(id, "ledger entry %s: %s".formatted(file(id), e.getMessage()));
    }
  }

  private void loadContents(VolumeId id) {
    try {
      contents.put(id, LedgerJson.readContents(read(contentsFile(id))));
    } catch (IOException e) {
      entries.remove(id);
      damaged.put(id, "contents record %s: %s".formatted(contentsFile(id), e.getMessage()));
    }
  }

  private static Optional<VolumeId> id(String fileName) {
    return fileName.endsWith(SUFFIX)
        ? VolumeId.parse(fileName.substring(0, fileName.length() - SUFFIX.length()))
        : Optional.empty();
  }

  private Path file(VolumeId id) {
    return folder.resolve(id + SUFFIX);
  }

  private Path contentsFile(VolumeId id) {
    return contentsFolder.resolve(id + SUFFIX);
  }

  private Collection<String> list(Path where) {
    try {
      return files.list(where);
    } catch (IOException e) {
      throw new StateException("list", where, e);
    }
  }

  /** What is in a file, or in words why it cannot be read. */
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
