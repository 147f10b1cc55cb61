package io.pmemcsi.driver.audit;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import io.pmemcsi.driver.audit.NodeState.Leftover;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateDirectory.Part;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds what is in a state directory and is no file that this driver reads. */
final class StateFileScan {

  private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  private final Path state;
  private final List<Leftover> leftovers = new ArrayList<>();

  private StateFileScan(Path state) {
    this.state = state;
  }

  static List<Leftover> run(Path state) throws IOException {
    StateFileScan scan = new StateFileScan(state);
    scan.examine(state, name -> isVolume(name, ".json"), StateFileScan::isNoDirectory);
    scan.examine(
        Part.CONTENTS.in(state), name -> isVolume(name, ".json"), StateFileScan::isNoDirectory);
    scan.examine(
        Part.DEVICES.in(state),
        name -> isVolume(name, ".img"),
        file -> Files.isRegularFile(file, NOFOLLOW_LINKS));
    scan.examine(Part.KATA_MOUNTS.in(state), name -> isVolume(name, ""), Files::isDirectory);
    scan.examine(
        Part.PENDING_MOUNTS.in(state),
        name -> isVolume(name, ""),
        file -> NodeState.target(file).isPresent());
    scan.examine(
        Part.PENDING_NAMESPACES.in(state), UUID.asMatchPredicate(), StateFileScan::isNoDirectory);
    scan.examine(
        Part.PENDING_FREEZES.in(state), name -> isVolume(name, ""), StateFileScan::isNoDirectory);
    return scan.leftovers;
  }

  private void examine(Path directory, Predicate<String> name, Predicate<Path> type)
      throws IOException {
    if (!Files.isDirectory(directory)) {
      return;
    }
    try (Stream<Path> all = Files.list(directory)) {
      for (Path file : all.sorted().toList()) {
        boolean temporary = isTemporary(file, name);
        boolean known = isPart(file) || (name.test(name(file)) && type.test(file));
        // a call may have removed it since
        if ((temporary || !known) && Files.exists(file, NOFOLLOW_LINKS)) {
          leftovers.add(new Leftover(file, state.relativize(file).toString(), temporary));
        }
      }
    }
  }

  /** A temporary file has the name of the file that it would have become. */
  private static boolean isTemporary(Path file, Predicate<String> name) {
    String full = name(file);
    return full.endsWith(DurableFiles.TEMPORARY)
        && name.test(full.substring(0, full.length() - DurableFiles.TEMPORARY.length()))
        && Files.isRegularFile(file, NOFOLLOW_LINKS);
  }

  /** The directories of the driver, its lock, and what a disk of its own has. */
  private boolean isPart(Path file) {
    return file.equals(state.resolve("lock"))
        || (Files.isDirectory(file)
            && (file.equals(state.resolve("lost+found"))
                || Arrays.stream(Part.values()).anyMatch(part -> part.in(state).equals(file))));
  }

  private static boolean isVolume(String name, String suffix) {
    return name.endsWith(suffix)
        && VolumeId.parse(name.substring(0, name.length() - suffix.length())).isPresent();
  }

  /** One that is no regular file either blocks its volume: the ledger reports it. */
  private static boolean isNoDirectory(Path file) {
    return !Files.isDirectory(file, NOFOLLOW_LINKS);
  }

  private static String name(Path file) {
    return String.valueOf(file.getFileName());
  }
}
