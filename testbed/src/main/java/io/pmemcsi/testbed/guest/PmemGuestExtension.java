package io.pmemcsi.testbed.guest;

import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Boots a guest when the first test asks for it, and switches it off after the last test of the
 * JVM.
 */
final class PmemGuestExtension implements ParameterResolver {
  private static final ExtensionContext.Namespace GUESTS =
      ExtensionContext.Namespace.create(PmemGuestExtension.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == PmemGuest.class;
  }

  @Override
  public PmemGuest resolveParameter(ParameterContext parameter, ExtensionContext context) {
    WithPmemGuest wanted = context.getRequiredTestClass().getAnnotation(WithPmemGuest.class);
    GuestConfig config =
        wanted == null
            ? GuestConfig.DEFAULT
            : GuestConfig.DEFAULT.withNvdimms(wanted.nvdimms(), wanted.nvdimmMiB());
    ExtensionContext.Store store = context.getRoot().getStore(GUESTS);
    return store.computeIfAbsent(config, PmemGuestExtension::boot, PmemGuest.class);
  }

  private static PmemGuest boot(GuestConfig config) {
    String name = "guest-%dx%d".formatted(config.nvdimms(), config.nvdimmMiB());
    // JVMs that run at the same time in one folder need different places
    return PmemGuest.boot(config, Path.of(System.getProperty("pmem-csi.guests", "target"), name));
  }
}
