package io.pmemcsi.driver.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrphanedWritersTest {

  private static final Path DEVICE = Path.of("/dev/loop7");

  @TempDir private Path processes;
  private final AtomicLong kills = new AtomicLong();
  private OrphanedWriters writers;

  @BeforeEach
  void aDriverStarts() {
    writers = new OrphanedWriters(new OrphanedCommands(processes), kills::get);
  }

  @Test
  void aCommandOfAnEarlierDriverIsFoundUntilItEnds() throws IOException {
    run(12, "/bin/sh", "/opt/mkfs.ext4", "-F", DEVICE.toString());
    run(13, "cat", DEVICE.toString());

    assertThat(writers.writerOf(DEVICE)).contains("mkfs.ext4");
    assertThat(writers.writerOf(Path.of("/dev/loop8"))).isEmpty();

    end(12);
    assertThat(writers.writerOf(DEVICE)).isEmpty();
  }

  @Test
  void aProcessThatBecomesSuchACommandIsFound() throws IOException {
    run(12, "/jdk/lib/jspawnhelper", "25.0.1", "1:2:3");
    assertThat(writers.writerOf(DEVICE)).isEmpty();

    run(12, "wipefs", "--all", DEVICE.toString());
    assertThat(writers.writerOf(DEVICE)).contains("wipefs");
  }

  @Test
  void aCommandThatThisDriverHasKilledIsFoundWhileItHangs() throws IOException {
    assertThat(writers.writerOf(DEVICE)).isEmpty();

    run(12, "mkfs.xfs", DEVICE.toString());
    kills.incrementAndGet();

    assertThat(writers.writerOf(DEVICE)).contains("mkfs.xfs");
  }

  private void run(int pid, String... arguments) throws IOException {
    Path process = Files.createDirectories(processes.resolve(Integer.toString(pid)));
    Files.writeString(process.resolve("cmdline"), String.join("\0", arguments) + "\0");
  }

  private void end(int pid) throws IOException {
    Path process = processes.resolve(Integer.toString(pid));
    Files.delete(process.resolve("cmdline"));
    Files.delete(process);
  }
}
