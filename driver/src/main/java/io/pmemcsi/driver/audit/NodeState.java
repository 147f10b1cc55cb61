package io.pmemcsi.driver.audit;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.linux.loop.FileIdentity;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.mount.MountTable;
import io.pmemcsi.driver.node.kata.ImageFiles;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateDirectory.Part;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What calls may have left on the node besides devices and records.
 *
 * @param notes the notes about pending mounts, each with its mount point
 * @param kataDirectories where Kata volumes are mounted themselves
 * @param loops the loop devices of files below the state directory, each with its file
 * @param leftovers the files in the state directory that stand for nothing
 */
public record NodeState(
    MountTable mounts,
    Map<Path, Path> notes,
    List<Path> kataDirectories,
    Map<Path, Path> loops,
    List<Leftover> leftovers) {

  public NodeState {
    notes = Map.copyOf(notes);
    kataDirectories = List.copyOf(kataDirectories);
    loops = Map.copyOf(loops);
    leftovers = List.copyOf(leftovers);
  }

  /**
   * A file in the state directory that the driver does not read.
   *
   * @param name its path in the state directory
   * @param temporary whether the driver began to write it and was killed
   */
  public record Leftover(Path file, String name, boolean temporary) {}

  /** Reads the state; nothing is changed. */
  public static NodeState read(Path stateDirectory) {
    try {
      // the kernel shows paths without links
      Path state = stateDirectory.toRealPath();
      Map<Path, Path> notes = new LinkedHashMap<>();
      for (Path note : list(Part.PENDING_MOUNTS.in(state))) {
        // a temporary file was never renamed, so the mount did not start
        if (!note.toString().endsWith(".tmp")) {
          target(note).ifPresent(path -> notes.put(note, path));
        }
      }
      List<Path> kata = list(Part.KATA_MOUNTS.in(state));
      return new NodeState(
          MountTable.read(), notes, kata, loops(state, kata), StateFileScan.run(state));
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
    for (Path file : list(Part.DEVICES.in(state))) {
      identity(file).ifPresent(id -> files.put(id, file));
    }
    for (Path mount : kata) {
      for (String name : List.of(ImageFiles.NAME, ImageFiles.TEMPORARY)) {
        Path image = mount.resolve(name);
        identity(image).ifPresent(id -> files.put(id, image));
      }
    }
    List<Path> directories = new ArrayList<>(kata);
    directories.add(Part.DEVICES.in(state));
    Map<Path, Path> loops = new LinkedHashMap<>();
    for (LoopDevices.Loop loop : new LoopDevices(new KernelLoops()).all()) {
      Path file = files.get(loop.file());
      Optional<Path> attached = file == null ? deletedFrom(directories, loop) : Optional.of(file);
      attached.ifPresent(path -> loops.put(loop.device(), path));
    }
    return loops;
  }

  /** The file of a loop device if it was deleted from one of these directories. */
  private static Optional<Path> deletedFrom(List<Path> directories, LoopDevices.Loop loop)
      throws IOException {
    Optional<String> shown = LoopDevices.deletedName(loop.device());
    if (shown.isEmpty()) {
      return Optional.empty();
    }
    String name = shown.get().substring(shown.get().lastIndexOf('/') + 1);
    for (Path directory : directories) {
      Path file = directory.resolve(name);
      Optional<FileIdentity> there = identity(directory);
      if (there.isPresent() && LoopDevices.isOfDeleted(loop, file, there.get().device())) {
        return Optional.of(directory.resolve(LoopDevices.deleted(name)));
      }
    }
    return Optional.empty();
  }

  private static Optional<FileIdentity> identity(Path file) throws IOException {
    try {
      return Optional.of(FileIdentity.of(file));
    } catch (NoSuchFileException e) {
      return Optional.empty(); // a Kata volume without an image, or deleted since
    }
  }

  /** What a note is about; one that is damaged must not keep the driver from starting. */
  static Optional<Path> target(Path note) {
    try {
      return Optional.of(
          Path.of(new String(new DurableFiles().read(note), StandardCharsets.UTF_8)));
    } catch (NoSuchFileException e) {
      return Optional.empty(); // a call that was at work has ended
    } catch (IOException | InvalidPathException e) {
      return Optional.empty(); // reported as a file that stands for nothing
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
