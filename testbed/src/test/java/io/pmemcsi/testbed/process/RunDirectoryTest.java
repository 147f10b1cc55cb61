package io.pmemcsi.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunDirectoryTest {

  @TempDir private Path parent;

  @Test
  void isDeletedWithItsContentWhenItIsClosed() throws IOException {
    RunDirectory directory = RunDirectory.createIn(parent, "test");
    Files.createDirectories(directory.resolve("a").resolve("b"));
    Files.writeString(directory.resolve("a").resolve("c"), "text");

    directory.close();

    assertThat(parent).isEmptyDirectory();
  }

  @Test
  void removesOnlyDirectoriesOfDeadProcesses() throws IOException {
    Path orphan = Files.createDirectory(parent.resolve("test-1"));
    Files.createFile(orphan.resolve("lock"));
    Path ofAnotherKind = Files.createDirectory(parent.resolve("other-1"));
    Files.createFile(ofAnotherKind.resolve("lock"));
    Path justBeingMade = Files.createDirectory(parent.resolve("test-2"));

    try (RunDirectory first = RunDirectory.createIn(parent, "test");
        RunDirectory second = RunDirectory.createIn(parent, "test")) {
      assertThat(parent)
          .isDirectoryContaining(ofAnotherKind::equals)
          .isDirectoryContaining(justBeingMade::equals)
          .isDirectoryContaining(first.path()::equals)
          .isDirectoryContaining(second.path()::equals);
      assertThat(orphan).doesNotExist();
    }
  }

  @Test
  void anotherDirectoryOfTheSameProcessDoesNotUnlockThis() throws IOException {
    try (RunDirectory first = RunDirectory.createIn(parent, "test")) {
      RunDirectory.createIn(parent, "test").close();

      Object inode = Files.getAttribute(first.resolve("lock"), "unix:ino");
      assertThat(Files.readString(Path.of("/proc/locks"))).contains(":%s 0 EOF".formatted(inode));
    }
  }
}
