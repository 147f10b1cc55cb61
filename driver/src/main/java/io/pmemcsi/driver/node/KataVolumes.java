package io.pmemcsi.driver.node;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.block.Signatures.Found;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.loop.LoopDevices.Loop;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.linux.mount.MountAttributes;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.node.kata.ImageFiles;
import io.pmemcsi.driver.node.kata.ImageLayout;
import io.pmemcsi.driver.state.StateDirectory;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.VolumeState.Filesystem;
import io.pmemcsi.driver.volume.operations.Volumes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the filesystem inside a volume's image file: the volume itself is mounted in the state
 * directory, and pods get a loop device on the file, which the Kata runtime recognises.
 */
public final class KataVolumes {

  private static final Logger LOG = LoggerFactory.getLogger(KataVolumes.class);

  /** What the mount table shows for a mount without flags, apart from read-only. */
  private static final Set<String> WITHOUT_FLAGS = Set.of("rw", "ro", "relatime");

  private final Path directory;
  private final Volumes volumes;
  private final Mounts mounts;
  private final LoopDevices loops;
  private final ImageFiles images;
  private final Signatures signatures;

  public KataVolumes(
      Path stateDirectory,
      Volumes volumes,
      Mounts mounts,
      LoopDevices loops,
      ImageFiles images,
      Signatures signatures) {
    this.directory = StateDirectory.Part.KATA_MOUNTS.in(stateDirectory.toAbsolutePath());
    this.volumes = volumes;
    this.mounts = mounts;
    this.loops = loops;
    this.images = images;
    this.signatures = signatures;
  }

  /** A pod with Kata Containers gets the filesystem in the image file, nothing else. */
  static void refuseBlock(VolumeRecord entry) {
    if (entry.parameters().kataContainers()) {
      throw new VolumeException.InvalidRequest(
          "volume_capability: volume %s has kataContainers=true, it cannot be a raw block volume"
              .formatted(entry.id()));
    }
  }

  /** Where the volume itself is mounted while it is published. */
  Path hostMount(VolumeRecord entry) {
    return directory.resolve(entry.id().value());
  }

  /**
   * Mounts the image of a volume.
   *
   * @param options those that belong to one mount count for the image, the others are those of the
   *     volume's own filesystem
   * @param mountVolume mounts the volume at the path it is given
   */
  void publish(
      VolumeRecord entry,
      Path target,
      Access.Mount access,
      List<String> options,
      Consumer<Path> mountVolume) {
    try {
      show(entry, target, access, MountAttributes.perMountOptions(options), mountVolume);
    } catch (RuntimeException e) {
      // kubelet does not call NodeUnpublishVolume after a failure
      Cancellation.uncancellable(() -> rollBack(entry, target, e));
      throw e;
    }
  }

  private void show(
      VolumeRecord entry,
      Path target,
      Access.Mount access,
      List<String> options,
      Consumer<Path> mountVolume) {
    Path host = hostMount(entry);
    try {
      StateDirectory.createInside(directory);
      MountPoints.createDirectory(host);
      if (mounts.table().at(host).isEmpty()) {
        mountVolume.accept(host);
      }
      Optional<Filesystem> recorded = recorded(entry);
      recorded.ifPresent(expected -> requireImage(entry, host, expected));
      Path image = images.ensure(host, access.type().orElse(FilesystemType.EXT4));
      Path loop = loops.ensure(image, ImageLayout.HEADER_BYTES);
      if (!isMounted(target, loop, access, options)) {
        FilesystemType type = check(entry, recorded, loop, access.type());
        MountPoints.createDirectory(target);
        mountImage(entry, loop, target, type, options);
      }
    } catch (IOException e) {
      throw new VolumeException.Failed(
          "Kata image file of volume %s: %s".formatted(entry.id(), Reason.withFile(e)));
    }
  }

  private void mountImage(
      VolumeRecord entry, Path loop, Path target, FilesystemType type, List<String> options)
      throws IOException {
    if (BlockDevices.supportsDax(loop)) {
      mounts.mountWithDax(loop, target, type, options);
      return;
    }
    mounts.mount(loop, target, type, options);
    LOG.atInfo()
        .addKeyValue("volume", entry.id())
        .addKeyValue("target", target)
        .addKeyValue("device", loop)
        .log(
            "Image file mounted without DAX, which this kernel does not support for loop devices."
                + " Kata Containers maps the file itself; other pods have no DAX.");
  }

  private void rollBack(VolumeRecord entry, Path target, RuntimeException reason) {
    try {
      takeDown(entry);
      if (mounts.table().at(target).isEmpty()) {
        MountPoints.remove(target);
      }
    } catch (RuntimeException e) {
      // NodeUnpublishVolume tries again, and until then the audit reports it
      reason.addSuppressed(e);
    }
  }

  /** The filesystem in the image that a pod once had. */
  private Optional<Filesystem> recorded(VolumeRecord entry) {
    return entry.state() instanceof VolumeState.Formatted(var _, Optional<Filesystem> image)
        ? image
        : Optional.empty();
  }

  /** What is in the image: as recorded, or recorded now, before a pod can write to it. */
  private FilesystemType check(
      VolumeRecord entry,
      Optional<Filesystem> recorded,
      Path loop,
      Optional<FilesystemType> requested) {
    FilesystemCheck check = new FilesystemCheck("the image file of volume " + entry.id());
    Found found = signatures.probe(loop);
    if (recorded.isPresent()) {
      return check.recorded(recorded.get(), found, requested);
    }
    Found.Signature there = check.unrecorded("a filesystem", found, requested);
    if (entry.state() instanceof VolumeState.Formatted(Filesystem volume, Optional<Filesystem> _)) {
      Filesystem inside = check.identified(there);
      volumes.setState(entry, new VolumeState.Formatted(volume, Optional.of(inside)));
    }
    return FilesystemType.parse(there.type()).orElseThrow();
  }

  private static void requireImage(VolumeRecord entry, Path host, Filesystem expected) {
    Path image = host.resolve(ImageFiles.NAME);
    if (!Files.exists(image)) {
      throw new VolumeException.PreconditionFailed(
          "the image file of volume %s is not created again: expected %s, which holds %s, found no such file."
                  .formatted(entry.id(), image.getFileName(), expected)
              + " Restore it or delete the volume");
    }
  }

  /** Takes everything down that no other pod needs; the image file stays for the next one. */
  void unpublish(VolumeRecord entry, Path target) {
    Optional<MountEntry> there = mounts.table().at(target);
    if (there.isPresent()) {
      refuseOtherMount(entry, there.get());
      mounts.unmount(target);
    }
    takeDown(entry);
  }

  private void takeDown(VolumeRecord entry) {
    Path host = hostMount(entry);
    Path image = host.resolve(ImageFiles.NAME);
    for (Loop loop : loopsOf(image)) {
      if (!mountsOf(loop.device()).isEmpty()) {
        return;
      }
      detach(loop.device());
    }
    detachIncomplete(host);
    while (mounts.table().at(host).isPresent()) {
      mounts.unmount(host);
    }
    MountPoints.remove(host);
  }

  private void refuseOtherMount(VolumeRecord entry, MountEntry mount) {
    Path image = hostMount(entry).resolve(ImageFiles.NAME);
    boolean own =
        Files.exists(image)
            ? loopsOf(image).stream().anyMatch(loop -> number(loop.device()).equals(mount.number()))
            : isSomeImage(Path.of(mount.source()));
    if (!own) {
      throw new VolumeException.PreconditionFailed(
          "what is mounted at %s (%s) is not this volume"
              .formatted(mount.mountPoint(), mount.source()));
    }
  }

  /** Whether a loop device shows an image file, which may be out of sight by now. */
  private static boolean isSomeImage(Path loop) {
    return LoopDevices.backingName(loop)
        .map(LoopDevices::withoutDeleted)
        .filter(file -> file.endsWith("/" + ImageFiles.NAME))
        .isPresent();
  }

  private List<Loop> loopsOf(Path image) {
    try {
      return Files.exists(image) ? loops.of(image) : loops.ofDeleted(image);
    } catch (IOException e) {
      throw new VolumeException.Failed(
          "cannot find the loop device of %s: %s".formatted(image, Reason.withFile(e)));
    }
  }

  private void detach(Path loop) {
    try {
      loops.detach(loop);
    } catch (IOException e) {
      throw new VolumeException.Failed("cannot detach %s: %s".formatted(loop, Reason.of(e)));
    }
  }

  private void detachIncomplete(Path host) {
    try {
      images.detachIncomplete(host);
    } catch (IOException e) {
      throw new VolumeException.Failed(
          "cannot detach the incomplete image file in %s: %s".formatted(host, Reason.withFile(e)));
    }
  }

  /** The mounts of the filesystem inside the image. */
  List<MountEntry> publications(VolumeRecord entry) {
    Path image = hostMount(entry).resolve(ImageFiles.NAME);
    return loopsOf(image).stream().flatMap(loop -> mountsOf(loop.device()).stream()).toList();
  }

  private List<MountEntry> mountsOf(Path loop) {
    return mounts.table().of(number(loop));
  }

  private boolean isMounted(Path target, Path loop, Access.Mount requested, List<String> options) {
    Optional<MountEntry> there = mounts.table().at(target);
    there
        .filter(mount -> !mount.number().equals(number(loop)))
        .ifPresent(
            mount -> {
              throw new VolumeException.Incompatible(
                  "something else is mounted at %s: %s".formatted(target, mount.source()));
            });
    there.ifPresent(mount -> requireSame(mount, requested, options));
    return there.isPresent();
  }

  /**
   * Earlier releases mounted images without other flags than read-only. A pod keeps such a mount,
   * because kubelet repeats NodePublishVolume while the pod runs.
   */
  static void requireSame(MountEntry there, Access.Mount requested, List<String> options) {
    boolean withoutFlags = WITHOUT_FLAGS.containsAll(there.options());
    VolumeMounts.requireSame(
        there,
        new Access.Mount(
            requested.type(), withoutFlags ? List.of() : options, requested.singleWriter()),
        options.contains("ro"));
  }

  private static DeviceNumber number(Path loop) {
    try {
      return DeviceNumber.of(loop);
    } catch (IOException e) {
      throw new VolumeException.Failed("cannot stat %s: %s".formatted(loop, Reason.of(e)));
    }
  }
}
