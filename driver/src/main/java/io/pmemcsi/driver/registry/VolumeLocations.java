package io.pmemcsi.driver.registry;

import io.pmemcsi.driver.state.StateDirectory;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.state.StateFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which node holds which volume, on disk with one file per node. The nodes themselves are the
 * authority and are asked when they register; the files are for the time when a node is away: a
 * volume on it must neither be created elsewhere nor be taken for deleted.
 */
final class VolumeLocations {

  private static final Logger LOG = LoggerFactory.getLogger(VolumeLocations.class);
  private static final String SUFFIX = ".json";

  private final Path directory;
  private final StateFiles files;
  private final Map<String, NodeRecord> records = new TreeMap<>();
  private final Set<Listing> listings = new HashSet<>();

  /** Nodes with created volumes that are pending creations on disk. */
  private final Set<String> unwritten = new HashSet<>();

  /** A node is being asked for its volumes. */
  final class Listing {
    private final String nodeId;
    private final Set<String> touched = new HashSet<>();

    private Listing(String nodeId) {
      this.nodeId = nodeId;
    }

    /** Takes over what the node has answered; on disk when this returns. */
    void finish(Map<String, Long> volumes) {
      synchronized (VolumeLocations.this) {
        listings.remove(this);
        NodeRecord next = record(nodeId).listed(volumes, touched);
        // also the first record of a node without volumes: the node is known from now on
        if (!next.equals(records.get(nodeId)) || unwritten.contains(nodeId)) {
          write(next);
        }
      }
    }

    void cancel() {
      synchronized (VolumeLocations.this) {
        listings.remove(this);
      }
    }
  }

  private VolumeLocations(Path directory, StateFiles files) {
    this.directory = directory;
    this.files = files;
  }

  /** Reads what was known at the last stop or crash. */
  static VolumeLocations open(Path statePath, StateFiles files) {
    Path directory = statePath.resolve("nodes");
    StateDirectory.createInside(directory);
    VolumeLocations locations = new VolumeLocations(directory, files);
    try {
      for (String name : files.list(directory)) {
        if (name.endsWith(SUFFIX)) {
          NodeRecord record = locations.read(directory.resolve(name));
          locations.records.put(record.nodeId(), record);
        }
      }
    } catch (IOException e) {
      throw new StateException("list", directory, e);
    }
    return locations;
  }

  private NodeRecord read(Path file) {
    try {
      return NodeRecord.parse(files.read(file));
    } catch (IOException e) {
      throw new StateException(
          "start: remove the damaged record once its node is running again:", file, e);
    }
  }

  /** All nodes that ever registered and may still hold volumes. */
  synchronized Set<String> nodes() {
    return Set.copyOf(records.keySet());
  }

  /** Whether a node has listed its volumes, to this controller or to one with the same records. */
  synchronized boolean hasReported(String nodeId) {
    return record(nodeId).reported();
  }

  /** The nodes that hold a volume, or may do so because of an interrupted creation. */
  synchronized List<String> holders(String volumeId) {
    return records.values().stream()
        .filter(record -> record.holds(volumeId))
        .map(NodeRecord::nodeId)
        .toList();
  }

  /** Whether a node has reported the volume, in contrast to an interrupted creation. */
  synchronized boolean isReported(String nodeId, String volumeId) {
    return record(nodeId).volumes().containsKey(volumeId);
  }

  /** Whether a creation on a node has no definite answer yet. */
  synchronized boolean isPending(String nodeId, String volumeId) {
    return record(nodeId).pending().contains(volumeId);
  }

  /** What a node had when it was asked last. */
  synchronized Map<String, Long> volumes(String nodeId) {
    return record(nodeId).volumes();
  }

  /** A creation is going to be forwarded, or may have been; on disk when this returns. */
  void creating(String nodeId, String volumeId) {
    change(nodeId, volumeId, record -> record.withPending(volumeId));
  }

  /**
   * The node has answered with the volume. On disk the creation stays pending until the record of
   * the node is written for another reason: after a crash the volume is bound to the node in both
   * cases, and the caller need not wait for the disk a second time.
   */
  synchronized void created(String nodeId, String volumeId, long bytes) {
    touch(nodeId, volumeId);
    NodeRecord known = record(nodeId);
    NodeRecord next = known.withVolume(volumeId, bytes);
    if (!next.equals(known)) {
      records.put(nodeId, next);
      unwritten.add(nodeId);
    }
  }

  /**
   * The node has answered that it does not have the volume. What a node has done is done, also
   * where it cannot be recorded: the next call for the volume then goes to the same node once more,
   * which does no harm.
   */
  void absent(String nodeId, String volumeId) {
    try {
      change(nodeId, volumeId, record -> record.without(volumeId));
    } catch (StateException e) {
      LOG.atWarn()
          .addKeyValue("node", nodeId)
          .addKeyValue("volume", volumeId)
          .addKeyValue("cause", e.getMessage())
          .log("The answer of a node was not recorded.");
    }
  }

  /** Writes what is in memory only; for the end of the controller. */
  synchronized void flush() {
    for (String nodeId : List.copyOf(unwritten)) {
      try {
        write(record(nodeId));
      } catch (StateException e) {
        LOG.atWarn()
            .addKeyValue("node", nodeId)
            .addKeyValue("cause", e.getMessage())
            .log("The volumes of a node were not recorded.");
      }
    }
  }

  synchronized Listing listing(String nodeId) {
    Listing listing = new Listing(nodeId);
    listings.add(listing);
    return listing;
  }

  /** Forgets a node that left without volumes. */
  synchronized void leave(String nodeId) {
    if (record(nodeId).isEmpty()) {
      remove(nodeId);
    }
  }

  /**
   * Forgets a node that never reported, with all that it may have. If it registers after all, its
   * list counts.
   *
   * @return false if it has reported by now or has no record
   */
  synchronized boolean giveUp(String nodeId) {
    if (!records.containsKey(nodeId) || hasReported(nodeId)) {
      return false;
    }
    remove(nodeId);
    return true;
  }

  private void remove(String nodeId) {
    try {
      files.delete(file(nodeId));
    } catch (IOException e) {
      throw new StateException("delete", file(nodeId), e);
    }
    records.remove(nodeId);
    unwritten.remove(nodeId);
  }

  private synchronized void change(
      String nodeId, String volumeId, UnaryOperator<NodeRecord> change) {
    touch(nodeId, volumeId);
    NodeRecord known = record(nodeId);
    NodeRecord next = change.apply(known);
    if (!next.equals(known)) {
      write(next);
    }
  }

  private void touch(String nodeId, String volumeId) {
    listings.stream()
        .filter(listing -> listing.nodeId.equals(nodeId))
        .forEach(listing -> listing.touched.add(volumeId));
  }

  private NodeRecord record(String nodeId) {
    return records.getOrDefault(nodeId, NodeRecord.empty(nodeId));
  }

  private void write(NodeRecord record) {
    try {
      files.write(file(record.nodeId()), record.json());
    } catch (IOException e) {
      throw new StateException("write", file(record.nodeId()), e);
    }
    records.put(record.nodeId(), record);
    unwritten.remove(record.nodeId());
  }

  private Path file(String nodeId) {
    return directory.resolve(nodeId + SUFFIX);
  }
}
