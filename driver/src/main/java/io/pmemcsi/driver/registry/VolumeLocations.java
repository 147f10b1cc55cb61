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
        if (!next.equals(records.get(nodeId))) {
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

  /** What a node had when it was asked last. */
  synchronized Map<String, Long> volumes(String nodeId) {
    return record(nodeId).volumes();
  }

  /** A creation is going to be forwarded; on disk when this returns. */
  void creating(String nodeId, String volumeId) {
    change(nodeId, volumeId, record -> record.withPending(volumeId));
  }

  /** The node has answered with the volume. */
  void created(String nodeId, String volumeId, long bytes) {
    answered(nodeId, volumeId, record -> record.withVolume(volumeId, bytes));
  }

  /** The node has answered that it does not have the volume. */
  void absent(String nodeId, String volumeId) {
    answered(nodeId, volumeId, record -> record.without(volumeId));
  }

  /**
   * What a node has done is done, also where it cannot be recorded. The next call for the volume
   * then goes to the same node once more, which does no harm.
   */
  private void answered(String nodeId, String volumeId, UnaryOperator<NodeRecord> change) {
    try {
      change(nodeId, volumeId, change);
    } catch (StateException e) {
      LOG.atWarn()
          .addKeyValue("node", nodeId)
          .addKeyValue("volume", volumeId)
          .addKeyValue("cause", e.getMessage())
          .log("The answer of a node was not recorded.");
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
      records.remove(nodeId);
      try {
        files.delete(file(nodeId));
      } catch (IOException e) {
        throw new StateException("delete", file(nodeId), e);
      }
    }
  }

  private synchronized void change(
      String nodeId, String volumeId, UnaryOperator<NodeRecord> change) {
    listings.stream()
        .filter(listing -> listing.nodeId.equals(nodeId))
        .forEach(listing -> listing.touched.add(volumeId));
    NodeRecord known = record(nodeId);
    NodeRecord next = change.apply(known);
    if (!next.equals(known)) {
      write(next);
    }
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
  }

  private Path file(String nodeId) {
    return directory.resolve(nodeId + SUFFIX);
  }
}
