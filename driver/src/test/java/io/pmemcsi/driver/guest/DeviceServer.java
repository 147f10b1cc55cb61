package io.pmemcsi.driver.guest;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.command.CommandRunner;
import io.pmemcsi.driver.command.ProcessRunner;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.direct.DirectDevices;
import io.pmemcsi.driver.device.lvm.GroupSetup;
import io.pmemcsi.driver.device.lvm.RawConversion;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.volume.Usage;
import io.pmemcsi.driver.volume.VolumeId;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Runs in the guest: a device manager behind a port, one line in, one line out per connection. */
final class DeviceServer {
  private final CommandRunner runner = new ProcessRunner();
  private final Ndctl ndctl = new Ndctl(runner);
  private final Eraser eraser = new Eraser((_, _, _) -> {});
  private DeviceManager devices = new DirectDevices(ndctl, eraser);

  public static void main(String[] args) throws IOException {
    DeviceServer server = new DeviceServer();
    InetAddress here = InetAddress.getLoopbackAddress();
    try (ServerSocket socket = new ServerSocket(Integer.parseInt(args[0]), 16, here)) {
      System.out.println("listening");
      while (true) {
        Socket client = socket.accept();
        Thread.ofPlatform().start(() -> server.serve(client));
      }
    }
  }

  private void serve(Socket client) {
    try (client;
        BufferedReader in =
            new BufferedReader(
                new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(client.getOutputStream(), true, StandardCharsets.UTF_8)) {
      out.println(answer(in.readLine().split(" ", -1)));
    } catch (IOException e) {
      System.err.println("no answer could be given: " + e);
    }
  }

  private String answer(String[] words) {
    try {
      return "ok " + act(words);
    } catch (DeviceException | FatalException e) {
      return e.getClass().getSimpleName() + " " + e.getMessage();
    } catch (RuntimeException e) {
      return "broken " + e + Arrays.toString(e.getStackTrace());
    }
  }

  private String act(String[] words) {
    return switch (words[0]) {
      case "lvm" -> {
        devices = new GroupSetup(ndctl, runner).prepare(Integer.parseInt(words[1]), eraser);
        yield "";
      }
      case "direct" -> {
        devices = new DirectDevices(ndctl, eraser);
        yield "";
      }
      case "convert" -> Integer.toString(new RawConversion(ndctl, runner).convert());
      case "capacity" -> {
        Capacity c = devices.capacity();
        yield "%d %d %d %d".formatted(c.maxVolumeSize(), c.available(), c.managed(), c.total());
      }
      case "list" ->
          devices.list().stream().map(DeviceServer::text).collect(Collectors.joining(" "));
      case "find" -> devices.find(new VolumeId(words[1])).map(DeviceServer::text).orElse("none");
      case "create" ->
          text(
              devices.create(
                  new VolumeId(words[1]), Long.parseLong(words[2]), Usage.valueOf(words[3])));
      case "grow" -> text(devices.grow(new VolumeId(words[1]), Long.parseLong(words[2])));
      case "delete" -> {
        devices.delete(new VolumeId(words[1]), Boolean.parseBoolean(words[2]));
        yield "";
      }
      default -> throw new IllegalArgumentException(words[0]);
    };
  }

  private static String text(Device device) {
    return "%s|%s|%d".formatted(device.id(), device.path(), device.sizeBytes());
  }
}
