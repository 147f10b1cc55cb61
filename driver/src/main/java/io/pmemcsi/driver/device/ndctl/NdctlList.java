package io.pmemcsi.driver.device.ndctl;

import io.pmemcsi.driver.json.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Reads what {@code ndctl list} prints for buses with their regions and namespaces: nothing at all
 * where there is none, an object or an array otherwise.
 */
final class NdctlList {
  private final NamespaceAttributes attributes;

  NdctlList(NamespaceAttributes attributes) {
    this.attributes = attributes;
  }

  List<Region> regions(String json) throws IOException {
    List<Region> regions = new ArrayList<>();
    if (!json.isBlank()) {
      for (Json bus : Json.parse(json).elements()) {
        for (Json region : bus.path("regions").elements()) {
          regions.add(region(bus.path("dev").asText(), region));
        }
      }
    }
    regions.sort(
        Comparator.<Region>comparingLong(region -> Region.order(region.bus()))
            .thenComparingLong(region -> Region.order(region.device())));
    return regions;
  }

  private Region region(String bus, Json json) {
    String device = json.path("dev").asText();
    List<Namespace> namespaces = new ArrayList<>();
    for (Json namespace : json.path("namespaces").elements()) {
      namespaces.add(namespace(namespace));
    }
    long size = json.path("size").number().orElse(0);
    long available = json.path("available_size").number().orElse(0);
    return new Region(
        bus,
        device,
        size,
        available,
        json.path("max_available_extent").number().orElse(available),
        gaps(device, size, namespaces),
        Region.unit(
            (int) attributes.number(device, "mappings", 1),
            json.path("align").number().orElseGet(() -> attributes.number(device, "align", 0))),
        json.path("type").asText().equals("pmem"),
        !json.path("state").asText().equals("disabled"),
        attributes.number(device, "read_only", 0) != 0,
        numaNode(device),
        namespaces);
  }

  /** The gaps between namespaces; none where the kernel does not show all their addresses. */
  private List<Long> gaps(String region, long size, List<Namespace> namespaces) {
    SortedMap<Long, Long> taken = new TreeMap<>();
    long start = attributes.number(region, "resource", -1);
    for (Namespace namespace : namespaces) {
      if (namespace.isReal()) {
        taken.put(attributes.number(namespace.device(), "resource", -1), namespace.rawBytes());
      }
    }
    if (start < 0 || (!taken.isEmpty() && taken.firstKey() < 0)) {
      return List.of();
    }
    taken.put(start + size, 0L);
    List<Long> gaps = new ArrayList<>();
    long free = start;
    for (Map.Entry<Long, Long> next : taken.entrySet()) {
      if (next.getKey() > free) {
        gaps.add(next.getKey() - free);
      }
      free = next.getKey() + next.getValue();
    }
    return gaps;
  }

  /** The kernel shows -1 where it knows none. */
  private OptionalInt numaNode(String region) {
    int node = (int) attributes.number(region, "numa_node", -1);
    return node < 0 ? OptionalInt.empty() : OptionalInt.of(node);
  }

  private Namespace namespace(Json json) {
    String device = json.path("dev").asText();
    long usable = json.path("size").number().orElse(0);
    return new Namespace(
        device,
        // what ndctl shows is that of the structure inside
        attributes.text(device, "uuid").orElse(""),
        json.path("name").asText(),
        NamespaceMode.parse(json.path("mode").asText()),
        attributes.number(device, "size", usable),
        usable,
        Optional.of(json.path("blockdev").asText())
            .filter(name -> !name.isEmpty() && !json.path("state").asText().equals("disabled"))
            .map(name -> Path.of("/dev", name)));
  }
}
