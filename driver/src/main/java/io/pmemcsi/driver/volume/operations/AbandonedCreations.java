package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes volumes whose creation was interrupted and not finished by another call, because the
 * claim was deleted for example: they would keep their memory for ever. They were never published.
 * A provisioner repeats a call every few minutes, and one that comes later creates the volume from
 * the beginning.
 */
public final class AbandonedCreations {
  private static final Logger LOG = LoggerFactory.getLogger(AbandonedCreations.class);

  private final Volumes volumes;
  private final VolumeDeleter deleter;
  private final VolumeLocks locks;
  private final Map<VolumeId, Long> since = new HashMap<>();

  public AbandonedCreations(Volumes volumes, VolumeDeleter deleter, VolumeLocks locks) {
    this.volumes = volumes;
    this.deleter = deleter;
    this.locks = locks;
  }

  /**
   * Removes those that are older than the grace period; to be called from time to time.
   *
   * @param now the time, as {@link System#nanoTime} tells it
   */
  public synchronized void removeAt(long now) {
    List<VolumeRecord> interrupted =
        volumes.incomplete().stream().filter(volume -> !locks.isHeld(volume.id())).toList();
    since.keySet().retainAll(interrupted.stream().map(VolumeRecord::id).toList());
    for (VolumeRecord volume : interrupted) {
      long first = since.computeIfAbsent(volume.id(), _ -> now);
      if (now - first >= Timeouts.ABANDONED_CREATION.toNanos()) {
        remove(volume);
      }
    }
  }

  private void remove(VolumeRecord abandoned) {
    VolumeId id = abandoned.id();
    try {
      if (abandoned.isSnapshot()) {
        volumes.withSnapshot(id, this::discard);
      } else {
        volumes.withVolume(id.value(), this::discard);
      }
    } catch (RuntimeException e) {
      LOG.atWarn()
          .addKeyValue("volume", id)
          .addKeyValue("error", e.getMessage())
          .log("An abandoned volume was not removed, trying again later.");
    }
  }

  private Lookup discard(Lookup lookup) {
    if (lookup instanceof Lookup.Known(VolumeRecord volume)
        && volume.state() instanceof VolumeState.Creating) {
      LOG.atWarn()
          .addKeyValue("volume", volume.id())
          .addKeyValue("name", volume.name())
          .log("The creation of this volume was interrupted and not repeated, removing it.");
      deleter.discard(volume);
    }
    return lookup;
  }
}
