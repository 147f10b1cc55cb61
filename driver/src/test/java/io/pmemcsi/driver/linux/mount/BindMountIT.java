package io.pmemcsi.driver.linux.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.libc.Errno;
import io.pmemcsi.driver.linux.libc.ErrnoException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Bind mounts for pods: created in the mount namespace of the driver, visible in that of the node.
 */
class BindMountIT {

  private final ProcessRunner runner = new ProcessRunner();
  private Path shared;
  private Path source;
  private Path target;
  private Path scratch;
  private Process node;

  /** The running kernel, or one without the newer calls. */
  enum Kernel implements MountCalls {
    CURRENT,
    OLD;

    private static final KernelMounts REAL = new KernelMounts();

    @Override
    public void mount(Path from, Path to, String type, MountOptions options) throws IOException {
      REAL.mount(from, to, type, options);
    }

    @Override
    public void bind(Path from, Path to, MountAttributes attributes) throws IOException {
      if (this == OLD) {
        throw new ErrnoException("mount_setattr(2)", Errno.ENOSYS);
      }
      REAL.bind(from, to, attributes);
    }

    @Override
    public boolean freeze(Path at) throws IOException {
      return REAL.freeze(at);
    }

    @Override
    public void thaw(Path at) throws IOException {
      REAL.thaw(at);
    }

    @Override
    public void unmount(Path at) throws IOException {
      REAL.unmount(at);
    }
  }

  @BeforeEach
  void shareADirectoryWithTheNode(@TempDir Path directory) throws IOException {
    shared = directory.toRealPath();
    runner.run(Command.of("mount", "--bind", shared.toString(), shared.toString()));
    runner.run(Command.of("mount", "--make-shared", shared.toString()));
    source = Files.createDirectory(shared.resolve("source"));
    target = Files.createDirectory(shared.resolve("target"));
    scratch = shared.resolve("scratch");
    Files.createFile(source.resolve("data"));
    node =
        new ProcessBuilder(
                "unshare", "--mount", "--propagation", "unchanged", "sh", "-c", "echo; exec cat")
            .start();
    assertThat(node.getInputStream().read()).isEqualTo('\n');
  }

  @AfterEach
  void unmountAll() throws IOException {
    node.destroyForcibly().onExit().join();
    for (MountEntry mount : MountTable.read().entries().reversed()) {
      if (mount.mountPoint().startsWith(shared)) {
        new KernelMounts().unmount(mount.mountPoint());
      }
    }
  }

  private Optional<MountEntry> onTheNode(Path path) throws IOException {
    return MountTable.parse(
            Files.readAllBytes(Path.of("/proc", Long.toString(node.pid()), "mountinfo")))
        .at(path);
  }

  private Mounts mounts(MountCalls kernel) {
    return new Mounts(runner, kernel, scratch);
  }

  @ParameterizedTest
  @EnumSource(Kernel.class)
  void aReadOnlyMountIsReadOnlyOnTheNodeToo(Kernel kernel) throws IOException {
    mounts(kernel).bind(source, target, List.of("ro", "noexec", "noatime"));

    for (MountEntry mount :
        List.of(MountTable.read().at(target).orElseThrow(), onTheNode(target).orElseThrow())) {
      assertThat(mount.options()).contains("ro", "noexec", "noatime").doesNotContain("relatime");
      assertThat(mount.superOptions()).contains("rw");
    }
    assertThat(target.resolve("data")).exists();
  }

  @ParameterizedTest
  @EnumSource(Kernel.class)
  void aDeviceNodeIsMountedReadOnlyOnAFile(Kernel kernel) throws IOException {
    Path file = Files.createFile(shared.resolve("block"));

    mounts(kernel).bind(Path.of("/dev/null"), file, List.of("ro"));

    assertThat(onTheNode(file).orElseThrow().options()).contains("ro");
  }

  @ParameterizedTest
  @EnumSource(Kernel.class)
  void noIntermediateMountStays(Kernel kernel) throws IOException {
    mounts(kernel).bind(source, target, List.of("ro"));

    assertThat(MountTable.read().entries())
        .noneMatch(mount -> mount.mountPoint().startsWith(scratch));
    if (Files.exists(scratch)) {
      assertThat(scratch).isEmptyDirectory();
    }
  }

  @Test
  void anIntermediateMountOfAKilledDriverIsRemovedAtTheStart() throws IOException {
    Path left = Files.createDirectories(scratch.resolve("left"));
    Mounts mounts = mounts(Kernel.OLD);
    mounts.bind(source, left);

    mounts.removeIntermediates();

    assertThat(scratch).isEmptyDirectory();
    assertThat(source.resolve("data")).exists();
    await().until(() -> onTheNode(left).isEmpty());
  }

  /** Whatever it is, the driver has other volumes to serve. */
  @Test
  void whatCannotBeRemovedAtTheStartStays() throws IOException {
    Path file = Files.createFile(Files.createDirectories(scratch.resolve("a")).resolve("file"));
    Path left = Files.createDirectories(scratch.resolve("b"));
    Mounts mounts = mounts(Kernel.OLD);
    mounts.bind(source, left);

    mounts.removeIntermediates();

    assertThat(file).exists();
    assertThat(left).doesNotExist();
  }

  @Test
  void optionsOfTheSourceAreInherited() throws IOException {
    mounts(Kernel.CURRENT).bind(source, target, List.of("nosuid"));
    Path second = Files.createDirectory(shared.resolve("second"));

    mounts(Kernel.CURRENT).bind(target, second, List.of("ro"));

    assertThat(onTheNode(second).orElseThrow().options()).contains("ro", "nosuid");
  }

  /** A user of the node created it; the driver does not depend on it. */
  @Test
  void aMountWithANameThatIsNotTextIsReadWithAllOthers() throws IOException {
    runner.run(
        Command.of(
            "sh",
            "-c",
            "cd %s && mkdir \"$(printf 'a\\377')\" && mount --bind source \"$(printf 'a\\377')\""
                .formatted(shared)));
    try {
      mounts(Kernel.CURRENT).bind(source, target);

      assertThat(MountTable.read().at(target)).isPresent();
      assertThat(MountTable.read().at(shared.resolve("a\\377"))).isPresent();
    } finally {
      runner.run(
          Command.of(
              "sh",
              "-c",
              "cd %s && umount \"$(printf 'a\\377')\" && rmdir \"$(printf 'a\\377')\""
                  .formatted(shared)));
    }
  }
}
