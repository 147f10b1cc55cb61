package io.pmemcsi.driver.node.kata;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import io.pmemcsi.driver.device.OrphanedCommands;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.loop.LoopDevices.Loop;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.volume.VolumeException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Creates image files that fill the volume they are on. */
public final class ImageFiles {

  /** The name that the Kata runtime looks for. */
  public static final String NAME = "kata-containers-pmem-csi-vm.img";

  /** The name that it has until it is complete. */
  public static final String TEMPORARY = NAME + ".tmp";

  private static final int LARGEST_STEP = 64;
  private static final long XFS_RESERVE = 4L << 20;

  /** The 256th part: enough even if every other page were written alone. */
  private static final int XFS_RESERVE_SHIFT = 8;

  private final CommandRunner runner;
  private final LoopDevices loops;

  public ImageFiles(CommandRunner runner, LoopDevices loops) {
    this.runner = runner;
    this.loops = loops;
  }

  /**
   * The image file in a directory, created if it does not exist. It is renamed when it is complete,
   * so that whatever a crash leaves behind is never used.
   */
  public Path ensure(Path directory, FilesystemType type) throws IOException {
    Path image = directory.resolve(NAME);
    if (!Files.exists(image)) {
      Path temporary = directory.resolve(TEMPORARY);
      detachIncomplete(directory);
      Files.deleteIfExists(temporary);
      long bytes = allocate(directory, temporary);
      writeHeader(temporary, bytes);
      format(temporary, type);
      Files.move(temporary, image, StandardCopyOption.ATOMIC_MOVE);
      sync(directory);
    }
    return image;
  }

  /**
   * Detaches the image file that a killed driver has not completed; while it is attached, the
   * volume cannot be unmounted. The file stays for the next call of {@link #ensure}.
   *
   * @throws VolumeException.PreconditionFailed while a command may write to it
   */
  public void detachIncomplete(Path directory) throws IOException {
    Path temporary = directory.resolve(TEMPORARY);
    if (!Files.exists(temporary)) {
      return;
    }
    for (Loop loop : loops.of(temporary)) {
      // detached, its number would be reused, and the command would format another volume
      Optional<String> writer = OrphanedCommands.HERE.writerOf(loop.device());
      if (writer.isPresent()) {
        throw new VolumeException.PreconditionFailed(
            "%s of an interrupted call still runs for %s, call again when it has ended"
                .formatted(writer.get(), loop.device()));
      }
      loops.detach(loop.device());
    }
  }

  /** Takes all free space; how much the filesystem needs for itself can only be tried. */
  private long allocate(Path directory, Path file) throws IOException {
    FileStore volume = Files.getFileStore(directory);
    long block = volume.getBlockSize();
    long free = volume.getUsableSpace();
    if (volume.type().equals("xfs")) {
      // with DAX it needs space for its lists of extents whenever a part is written for the first
      // time
      free -= Math.max(XFS_RESERVE, free >> XFS_RESERVE_SHIFT);
    }
    long overhead = 1;
    while (true) {
      long bytes =
          Math.floorDiv(free - overhead * block, ImageLayout.HEADER_BYTES)
              * ImageLayout.HEADER_BYTES;
      if (bytes <= ImageLayout.HEADER_BYTES) {
        throw new IOException(
            "invalid image file size %d, must be larger than HeaderSize=%d: the volume is too small"
                .formatted(bytes, ImageLayout.HEADER_BYTES));
      }
      try {
        runner.run(
            Command.of("fallocate", "--length", Long.toString(bytes), file.toString())
                .within(Timeouts.WHOLE_DEVICE));
        return bytes;
      } catch (ToolFailedException e) {
        if (!e.stderrTail().contains("No space left")) {
          throw e;
        }
        Files.deleteIfExists(file);
        overhead = overhead < LARGEST_STEP ? overhead * 2 : overhead + LARGEST_STEP;
      }
    }
  }

  private static void writeHeader(Path file, long bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, WRITE)) {
      ByteBuffer header = ByteBuffer.wrap(ImageLayout.header(bytes));
      while (header.hasRemaining()) {
        channel.write(header, header.position());
      }
      channel.force(true);
    }
  }

  private void format(Path file, FilesystemType type) throws IOException {
    Path loop = loops.attach(file, ImageLayout.HEADER_BYTES);
    try {
      List<String> mkfs = new ArrayList<>(type.mkfsForImage(loop, UUID.randomUUID()));
      // discarding would punch holes into the file, and a guest cannot map holes
      mkfs.addAll(
          mkfs.size() - 1,
          switch (type) {
            case EXT4 -> List.of("-E", "nodiscard");
            case XFS -> List.of("-K");
          });
      runner.run(Command.of(mkfs).within(Timeouts.WHOLE_DEVICE));
    } finally {
      loops.detach(loop);
    }
    sync(file);
  }

  private static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, READ)) {
      channel.force(true);
    }
  }
}
