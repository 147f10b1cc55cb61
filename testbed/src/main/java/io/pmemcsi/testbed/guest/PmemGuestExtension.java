package io.pmemcsi.testbed.guest;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Boots a guest when the first test asks for it, and switches it off when the JVM ends. No store of
 * JUnit keeps it that long: where several JVMs share the classes of a module, each class is a run
 * of its own for JUnit, and would get a machine of its own.
 */
final class PmemGuestExtension implements ParameterResolver {
  private static final Map<GuestConfig, PmemGuest> GUESTS = new ConcurrentHashMap<>();

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> GUESTS.values().forEach(PmemGuest::close)));
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == PmemGuest.class;
  }

  @Override
  public PmemGuest resolveParameter(ParameterContext parameter, ExtensionContext context) {
    WithPmemGuest annotation = context.getRequiredTestClass().getAnnotation(WithPmemGuest.class);
    GuestConfig config =
        annotation == null
            ? GuestConfig.DEFAULT
            : GuestConfig.DEFAULT.withNvdimms(annotation.nvdimms(), annotation.nvdimmMiB());
    return GUESTS.computeIfAbsent(config, PmemGuestExtension::boot);
  }

  private static PmemGuest boot(GuestConfig config) {
    String name = "guest-%dx%d".formatted(config.nvdimms(), config.nvdimmMiB());
    // JVMs that run at the same time in one directory need different places
    return PmemGuest.boot(config, Path.of(System.getProperty("pmem-csi.guests", "target"), name));
  }
}
