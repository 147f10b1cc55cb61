package io.pmemcsi.driver.audit;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.device.file.FileDevices;
import io.pmemcsi.driver.linux.loop.FileIdentity;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.mount.MountTable;
import io.pmemcsi.driver.node.KataVolumes;
import io.pmemcsi.driver.node.PendingMounts;
import io.pmemcsi.driver.node.kata.ImageFiles;
import io.pmemcsi.driver.state.DurableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What calls may have left on the node besides devices and records.
 *
 * @param notes the notes about pending mounts, each with its mount point
 * @param kataDirectories where Kata volumes are mounted themselves
 * @param loops the loop devices of files below the state directory, each with its file
 */
public record NodeState(
    MountTable mounts, Map<Path, Path> notes, List<Path> kataDirectories, Map<Path, Path> loops) {

  private static final Logger LOG = LoggerFactory.getLogger(NodeState.class);

  public NodeState {
    notes = Map.copyOf(notes);
    kataDirectories = List.copyOf(kataDirectories);
    loops = Map.copyOf(loops);
  }

  /** Reads the state; nothing is changed. */
  public static NodeState read(Path stateDirectory) {
    try {
      // the kernel shows paths without links
      Path state = stateDirectory.toRealPath();
      Map<Path, Path> notes = new LinkedHashMap<>();
      for (Path note : list(state.resolve(PendingMounts.DIRECTORY))) {
        // a temporary file was never renamed, so the mount did not start
        if (!note.toString().endsWith(".tmp")) {
          target(note).ifPresent(path -> notes.put(note, path));
        }
      }
      List<Path> kata = list(state.resolve(KataVolumes.DIRECTORY));
      return new NodeState(MountTable.read(), notes, kata, loops(state, kata));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot read %s: %s".formatted(stateDirectory, Reason.withFile(e)), e);
    }
  }

  /**
   * The loop devices of the files that this driver may have attached. Files are compared by device
   * and inode; the name that the kernel shows counts only for files that are deleted.
   */
  private static Map<Path, Path> loops(Path state, List<Path> kata) throws IOException {
    Map<FileIdentity, Path> files = new HashMap<>();
    for (Path file : list(state.resolve(FileDevices.DIRECTORY))) {
      identity(file).ifPresent(id -> files.put(id, file));
    }
    for (Path mount : kata) {
      Path image = mount.resolve(ImageFiles.NAME);
      identity(image).ifPresent(id -> files.put(id, image));
    }
    Map<Path, Path> loops = new LinkedHashMap<>();
    for (LoopDevices.Loop loop : new LoopDevices(new KernelLoops()).all()) {
      Optional.ofNullable(files.get(loop.file()))
          .or(() -> shownBelow(state, loop.device()))
          .ifPresent(file -> loops.put(loop.device(), file));
    }
    return loops;
  }

  private static Optional<FileIdentity> identity(Path file) throws IOException {
    try {
      return Optional.of(FileIdentity.of(file));
    } catch (NoSuchFileException e) {
      return Optional.empty(); // a Kata volume without an image, or deleted since
    }
  }

  private static Optional<Path> shownBelow(Path state, Path device) {
    return LoopDevices.backingName(device)
        .filter(name -> name.startsWith(state + "/"))
        .map(Path::of);
  }

  /** What a note is about; one that is damaged must not keep the driver from starting. */
  private static Optional<Path> target(Path note) {
    try {
      return Optional.of(
          Path.of(new String(new DurableFiles().read(note), StandardCharsets.UTF_8)));
    } catch (NoSuchFileException e) {
      return Optional.empty(); // a call that was at work has ended
    } catch (IOException | InvalidPathException e) {
      LOG.atWarn()
          .addKeyValue("note", note)
          .addKeyValue("error", Reason.of(e))
          .log("A note about a pending mount cannot be parsed, remove it.");
      return Optional.empty();
    }
  }

  private static List<Path> list(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(directory)) {
      return all.sorted().toList();
    }
  }
}
