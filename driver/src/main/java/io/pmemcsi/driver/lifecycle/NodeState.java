package io.pmemcsi.driver.lifecycle;

import io.pmemcsi.driver.loop.LoopDevices;
import io.pmemcsi.driver.mount.MountTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What calls may have left on the node besides devices and records.
 *
 * @param notes the notes about unfinished mounts, each with the path that it is about
 * @param kataFolders where Kata volumes are mounted themselves
 * @param loops the loop devices of files below the state folder, each with its file
 */
public record NodeState(
    MountTable mounts, Map<Path, Path> notes, List<Path> kataFolders, Map<Path, Path> loops) {

  public NodeState {
    notes = Map.copyOf(notes);
    kataFolders = List.copyOf(kataFolders);
    loops = Map.copyOf(loops);
  }

  /** Looks; nothing is changed. */
  public static NodeState read(Path stateFolder) {
    try {
      // the kernel shows paths without links
      Path state = stateFolder.toRealPath();
      Map<Path, Path> notes = new LinkedHashMap<>();
      for (Path note : list(state.resolve(Markers.FOLDER))) {
        // a name that ends so was never finished, so the mount was never begun
        if (!note.toString().endsWith(".tmp")) {
          notes.put(note, Path.of(Files.readString(note)));
        }
      }
      Map<Path, Path> loops = new LinkedHashMap<>();
      LoopDevices.backingFiles()
          .forEach(
              (device, file) -> {
                if (file.startsWith(state)) {
                  loops.put(device, file);
                }
              });
      return new NodeState(
          MountTable.read(), notes, list(state.resolve(KataVolumes.FOLDER)), loops);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot look into " + stateFolder, e);
    }
  }

  private static List<Path> list(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(folder)) {
      return all.sorted().toList();
    }
  }
}
