package io.pmemcsi.testbed.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

@WithPmemGuest
class PmemGuestIT {
  private final PmemGuest guest;

  PmemGuestIT(PmemGuest guest) {
    this.guest = guest;
  }

  @Test
  void aCommandReturnsItsExitCodeAndBothOutputs() {
    ExecResult result = guest.exec("echo some text; echo a complaint >&2; exit 7");

    assertThat(result).isEqualTo(new ExecResult(7, "some text\n", "a complaint\n"));
  }

  @Test
  void aCommandThatTimesOutIsKilled() {
    ExecResult result = guest.exec("echo before; sleep 1000", Duration.ofSeconds(2));

    assertThat(result).isEqualTo(new ExecResult(124, "before\n", ""));
  }

  /** DirectDriverIT (reboot) and LvmDriverIT (power cut) test that they survive. */
  @Test
  void lvmAndDirectVolumesHaveDax() {
    guest.initLabels();
    assertThat(guest.run("ndctl list -R | jq length")).isEqualTo("2");
    guest.run(
        """
        set -e
        ndctl create-namespace -r region0 -m fsdax -n for-lvm -s 1600M > /dev/null
        ndctl create-namespace -r region1 -m fsdax -n first -s 512M > /dev/null
        ndctl create-namespace -r region1 -m fsdax -n second -s 256M > /dev/null
        vgcreate -q group0 /dev/$(ndctl list -N | jq -r '.[]|select(.name=="for-lvm").blockdev')
        lvcreate -q -y -n small -L 100M group0
        lvcreate -q -y -n large -L 500M group0
        mkfs.ext4 -q -b 4096 /dev/group0/small
        mkfs.xfs -q -b size=4096 /dev/group0/large
        first=/dev/$(ndctl list -N | jq -r '.[]|select(.name=="first").blockdev')
        mkfs.ext4 -q -b 4096 $first
        mkdir -p /mnt/small /mnt/large /mnt/first
        mount -o dax=always /dev/group0/small /mnt/small
        mount -o dax=always /dev/group0/large /mnt/large
        mount -o dax=always $first /mnt/first
        """);
    for (String directory : new String[] {"small", "large", "first"}) {
      guest.run("echo %s > /mnt/%s/file".formatted(directory, directory));
      assertThat(isDax("/mnt/" + directory + "/file")).as(directory).isTrue();
    }
    assertThat(isDax("/disk")).isFalse();

    guest.run("umount /mnt/small /mnt/large /mnt/first; vgremove -q -f -y group0");
    guest.initLabels();
  }

  @Test
  void aProgramRespondsOnAForwardedPortUntilItIsKilled() {
    GuestProgram program =
        guest.start(
            "echo", "socat UNIX-LISTEN:/run/echo.sock,fork SYSTEM:'head -c 5 | tr a-z A-Z'");
    int port = guest.forwardUnix("/run/echo.sock");

    program.awaitSocket("/run/echo.sock", Duration.ofMinutes(4));
    assertThat(ask(port, "hello")).isEqualTo("HELLO");
    assertThat(ask(port, "again")).isEqualTo("AGAIN");

    program.kill();
    assertThat(program.isRunning()).isFalse();
    assertThat(ask(port, "hello")).isEmpty();
  }

  private boolean isDax(String path) {
    String attributes =
        guest.run("xfs_io -r -c 'statx -r' %s | sed -n 's/^stat.attributes = //p'".formatted(path));
    return (Long.decode(attributes) & 0x200000) != 0;
  }

  private static String ask(int port, String question) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(120_000);
      socket.getOutputStream().write(question.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    } catch (IOException e) {
      return "";
    }
  }
}
