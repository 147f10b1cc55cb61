package io.pmemcsi.standin;

import io.pmemcsi.testbed.node.RealNode;
import io.pmemcsi.testbed.node.RealNode.DerivedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The images of the stand-ins: the driver's image with the classes of this package. */
public final class StandIns {

  public static final String REGISTRAR = "localhost/registrar-stand-in:test";
  public static final String PROVISIONER = "localhost/provisioner-stand-in:test";

  public static final String RESIZER = "localhost/resizer-stand-in:test";
  public static final String DNS = "localhost/dns-stand-in:test";

  private static final String CLASSES = "usr/local/lib/stand-ins";

  private StandIns() {}

  /** Imports the driver's image and those of the stand-ins. */
  public static void importTo(RealNode node, Path driverImage, Path work) {
    Path files = work.resolve("stand-ins");
    copyClasses(files.resolve(CLASSES));
    node.importDerivedImages(
        driverImage,
        List.of(
            new DerivedImage(REGISTRAR, files, entrypoint(RegistrarStandIn.class)),
            new DerivedImage(PROVISIONER, files, entrypoint(ProvisionerStandIn.class)),
            new DerivedImage(RESIZER, files, entrypoint(ResizerStandIn.class)),
            new DerivedImage(DNS, files, entrypoint(DnsStandIn.class))));
  }

  private static List<String> entrypoint(Class<?> program) {
    return List.of(
        "/usr/local/lib/pmem-csi/runtime/bin/java",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xmx96m",
        "-Xshare:auto",
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        // sidecars have a read-only root file system, and netty unpacks a library
        "-Dio.grpc.netty.shaded.io.netty.native.workdir=/csi",
        "-cp",
        "/%s:/usr/local/lib/pmem-csi/pmem-csi.jar".formatted(CLASSES),
        program.getName());
  }

  private static void copyClasses(Path to) {
    Path from = Path.of("target/test-classes");
    Path standIns = from.resolve(StandIns.class.getPackageName().replace('.', '/'));
    try (Stream<Path> all = Files.walk(standIns)) {
      for (Path file : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
        Path target = to.resolve(from.relativize(file));
        Files.createDirectories(target.resolveSibling(""));
        Files.copy(file, target);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot copy the stand-ins", e);
    }
  }
}
