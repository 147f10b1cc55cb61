package io.pmemcsi.driver.device.ndctl;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Reads what {@code ndctl list} prints for buses with their regions and namespaces: nothing at all
 * where there is none, an object or an array otherwise.
 */
final class NdctlList {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final NamespaceAttributes attributes;

  NdctlList(NamespaceAttributes attributes) {
    this.attributes = attributes;
  }

  List<Region> regions(String json) throws JsonProcessingException {
    List<Region> regions = new ArrayList<>();
    if (!json.isBlank()) {
      for (JsonNode bus : elements(JSON.readTree(json))) {
        for (JsonNode region : elements(bus.path("regions"))) {
          regions.add(region(bus.path("dev").asText(), region));
        }
      }
    }
    regions.sort(
        Comparator.<Region>comparingLong(region -> Region.order(region.bus()))
            .thenComparingLong(region -> Region.order(region.device())));
    return regions;
  }

  private Region region(String bus, JsonNode json) {
    String device = json.path("dev").asText();
    List<Namespace> namespaces = new ArrayList<>();
    for (JsonNode namespace : elements(json.path("namespaces"))) {
      namespaces.add(namespace(namespace));
    }
    long available = json.path("available_size").asLong();
    return new Region(
        bus,
        device,
        json.path("size").asLong(),
        available,
        json.path("max_available_extent").asLong(available),
        Region.unit(
            (int) attributes.number(device, "mappings", 1),
            json.has("align")
                ? json.path("align").asLong()
                : attributes.number(device, "align", 0)),
        json.path("type").asText().equals("pmem"),
        !json.path("state").asText().equals("disabled"),
        attributes.number(device, "read_only", 0) != 0,
        namespaces);
  }

  private Namespace namespace(JsonNode json) {
    String device = json.path("dev").asText();
    long usable = json.path("size").asLong();
    return new Namespace(
        device,
        json.path("name").asText(),
        NamespaceMode.parse(json.path("mode").asText()),
        attributes.number(device, "size", usable),
        usable,
        Optional.of(json.path("blockdev").asText())
            .filter(name -> !name.isEmpty() && !json.path("state").asText().equals("disabled"))
            .map(name -> Path.of("/dev", name)));
  }

  private static Iterable<JsonNode> elements(JsonNode node) {
    return node.isObject() ? List.of(node) : node;
  }
}
