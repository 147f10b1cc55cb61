package io.pmemcsi.testbed.guest;

/**
 * The hardware of a guest. Each NVDIMM becomes a region of its own; they belong to two NUMA nodes
 * in turn.
 */
public record GuestConfig(int nvdimms, int nvdimmMiB, int memoryMiB, int processors) {

  /** One processor: to emulate two that wait for each other costs a third more. */
  public static final GuestConfig DEFAULT =
      new GuestConfig(2, 2048, 1024, Integer.getInteger("pmem-csi.guest.processors", 1));

  public GuestConfig {
    require(nvdimms >= 0 && nvdimms <= 8, "nvdimms", nvdimms);
    require(nvdimmMiB >= 64, "nvdimmMiB", nvdimmMiB);
    require(memoryMiB >= 256, "memoryMiB", memoryMiB);
    require(processors >= 1, "processors", processors);
  }

  public GuestConfig withNvdimms(int count, int sizeMiB) {
    return new GuestConfig(count, sizeMiB, memoryMiB, processors);
  }

  private static void require(boolean good, String what, int value) {
    if (!good) {
      throw new IllegalArgumentException("%s cannot be %d".formatted(what, value));
    }
  }
}
