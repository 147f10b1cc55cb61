package io.pmemcsi.driver.node;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.block.Signatures.Found;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.loop.LoopDevices.Loop;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.node.kata.ImageFiles;
import io.pmemcsi.driver.node.kata.ImageLayout;
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
import java.util.function.Consumer;

/**
 * Publishes the filesystem inside a volume's image file: the volume itself is mounted in the state
 * directory, and pods get a loop device on the file, which the Kata runtime recognises.
 */
public final class KataVolumes {

  /** Where the volumes themselves are mounted, in the state directory. */
  public static final String DIRECTORY = "mount";

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
    this.directory = stateDirectory.toAbsolutePath().resolve(DIRECTORY);
    this.volumes = volumes;
    this.mounts = mounts;
    this.loops = loops;
    this.images = images;
    this.signatures = signatures;
  }

  /** Where the volume itself is mounted while it is published. */
  Path hostMount(VolumeRecord entry) {
    return directory.resolve(entry.id().value());
  }

  /**
   * Mounts the image of a volume.
   *
   * @param mountVolume mounts the volume at the path it is given
   */
  void publish(
      VolumeRecord entry,
      Path target,
      Access.Mount access,
      List<String> options,
      Consumer<Path> mountVolume) {
    try {
      show(entry, target, access, options.contains("ro"), mountVolume);
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
      boolean readOnly,
      Consumer<Path> mountVolume) {
    Path host = hostMount(entry);
    try {
      Files.createDirectories(directory);
      MountPoints.createDirectory(host);
      if (mounts.table().at(host).isEmpty()) {
        mountVolume.accept(host);
      }
      Optional<Filesystem> recorded = recorded(entry);
      recorded.ifPresent(expected -> requireImage(entry, host, expected));
      Path image = images.ensure(host, access.type().orElse(FilesystemType.EXT4));
      Path loop = loops.ensure(image, ImageLayout.HEADER_BYTES);
      if (!isMounted(target, loop, access, readOnly)) {
        FilesystemType type = check(entry, recorded, loop, access.type());
        MountPoints.createDirectory(target);
        mounts.mount(loop, target, type, readOnly ? List.of("ro") : List.of());
      }
    } catch (IOException e) {
      throw new VolumeException.Failed(
          "Kata image file of volume %s: %s".formatted(entry.id(), Reason.withFile(e)));
    }
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
    if (Files.exists(image)) {
      for (Loop loop : loopsOf(image)) {
        if (!mountsOf(loop.device()).isEmpty()) {
          return;
        }
        detach(loop.device());
      }
    }
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
        .filter(file -> file.endsWith("/" + ImageFiles.NAME))
        .isPresent();
  }

  private List<Loop> loopsOf(Path image) {
    try {
      return loops.of(image);
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

  /** The mounts of the filesystem inside the image. */
  List<MountEntry> publications(VolumeRecord entry) {
    Path image = hostMount(entry).resolve(ImageFiles.NAME);
    return Files.exists(image)
        ? loopsOf(image).stream().flatMap(loop -> mountsOf(loop.device()).stream()).toList()
        : List.of();
  }

  private List<MountEntry> mountsOf(Path loop) {
    return mounts.table().of(number(loop));
  }

  private boolean isMounted(Path target, Path loop, Access.Mount requested, boolean readOnly) {
    Optional<MountEntry> there = mounts.table().at(target);
    there
        .filter(mount -> !mount.number().equals(number(loop)))
        .ifPresent(
            mount -> {
              throw new VolumeException.Incompatible(
                  "something else is mounted at %s: %s".formatted(target, mount.source()));
            });
    there.ifPresent(
        mount ->
            VolumeMounts.requireSame(
                mount,
                // the other flags are those of the volume, not of the image in it
                new Access.Mount(requested.type(), List.of(), requested.singleWriter()),
                readOnly));
    return there.isPresent();
  }

  private static DeviceNumber number(Path loop) {
    try {
      return DeviceNumber.of(loop);
    } catch (IOException e) {
      throw new VolumeException.Failed("cannot stat %s: %s".formatted(loop, Reason.of(e)));
    }
  }
}
