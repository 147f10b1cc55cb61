package io.pmemcsi.driver.guest;

import static org.awaitility.Awaitility.await;

import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.volume.VolumeId;
import io.pmemcsi.testbed.guest.GuestClassPath;
import io.pmemcsi.testbed.guest.GuestProgram;
import io.pmemcsi.testbed.guest.PmemGuest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** The device managers as they work in the guest. */
final class GuestDevices implements AutoCloseable {
  private static final int GUEST_PORT = 9000;
  private static final List<String> LIBRARIES =
      List.of("jackson", "slf4j", "logback", "jspecify", "pmem-csi-base", "/base/", "/driver/");

  private final GuestProgram program;
  private final int port;

  private GuestDevices(GuestProgram program, int port) {
    this.program = program;
    this.port = port;
  }

  static GuestDevices start(PmemGuest guest) {
    String classPath =
        GuestClassPath.copy(guest, path -> LIBRARIES.stream().anyMatch(path.toString()::contains));
    GuestProgram program =
        guest.start(
            "devices",
            "/jdk/bin/java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp %s %s %d"
                .formatted(classPath, DeviceServer.class.getName(), GUEST_PORT));
    GuestDevices devices = new GuestDevices(program, guest.forwardTcp(GUEST_PORT));
    await()
        .atMost(Duration.ofMinutes(3))
        .pollInterval(Duration.ofMillis(500))
        .until(() -> devices.ask("direct").equals("ok "));
    return devices;
  }

  /** The answer as it came: "ok" with the result, or the kind of error with its message. */
  String ask(String line) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(180_000);
      socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      byte[] answer = socket.getInputStream().readAllBytes();
      return new String(answer, StandardCharsets.UTF_8).replace("\n", "");
    } catch (IOException e) {
      return "no answer: " + e;
    }
  }

  Capacity capacity() {
    long[] numbers =
        Stream.of(good("capacity").split(" ", -1)).mapToLong(Long::parseLong).toArray();
    return new Capacity(numbers[0], numbers[1], numbers[2], numbers[3]);
  }

  List<VolumeId> list() {
    String answer = good("list");
    return answer.isEmpty()
        ? List.of()
        : Arrays.stream(answer.split(" ", -1)).map(text -> device(text).id()).toList();
  }

  Device find(VolumeId id) {
    return device(good("find " + id));
  }

  Device create(VolumeId id, long bytes) {
    return device(good("create %s %d APP_DIRECT".formatted(id, bytes)));
  }

  Device createForFiles(VolumeId id, long bytes) {
    return device(good("create %s %d FILE_IO".formatted(id, bytes)));
  }

  Device grow(VolumeId id, long bytes) {
    return device(good("grow %s %d".formatted(id, bytes)));
  }

  void delete(VolumeId id, boolean erase) {
    good("delete %s %s".formatted(id, erase));
  }

  /** The result of something that must work. */
  String good(String line) {
    String answer = ask(line);
    if (!answer.startsWith("ok ")) {
      throw new AssertionError(line + ": " + answer + "\n" + program.log());
    }
    return answer.substring(3);
  }

  @Override
  public void close() {
    program.kill();
  }

  private static Device device(String text) {
    String[] parts = text.split("\\|", -1);
    if (parts.length != 3) {
      throw new UncheckedIOException(new IOException("not a device: " + text));
    }
    return new Device(new VolumeId(parts[0]), Path.of(parts[1]), Long.parseLong(parts[2]));
  }
}
