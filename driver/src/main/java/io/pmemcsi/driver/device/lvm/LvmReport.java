package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.json.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The JSON report of LVM: groups with their volumes, and the physical volumes. */
record LvmReport(List<Group> groups, List<PhysicalVolume> physicalVolumes) {
  record Group(
      String name, long sizeBytes, long freeBytes, long extentBytes, List<Volume> volumes) {
    Group {
      volumes = List.copyOf(volumes);
    }
  }

  record Volume(String name, Path path, long sizeBytes, List<String> tags) {
    Volume {
      tags = List.copyOf(tags);
    }

    Volume withSize(long bytes) {
      return new Volume(name, path, bytes, tags);
    }
  }

  /** A device; the group is empty for one that belongs to none. */
  record PhysicalVolume(Path device, String group) {}

  LvmReport {
    groups = List.copyOf(groups);
    physicalVolumes = List.copyOf(physicalVolumes);
  }

  /** Reads the output of {@code fullreport} and of {@code pvs}, in bytes without suffix. */
  static LvmReport parse(String json) throws IOException {
    List<Group> groups = new ArrayList<>();
    List<PhysicalVolume> physical = new ArrayList<>();
    for (Json part : Json.parse(json).path("report").elements()) {
      for (Json pv : part.path("pv").elements()) {
        physical.add(new PhysicalVolume(Path.of(text(pv, "pv_name")), text(pv, "vg_name")));
      }
      for (Json vg : part.path("vg").elements()) {
        groups.add(group(vg, part.path("lv")));
      }
    }
    return new LvmReport(groups, physical);
  }

  private static Group group(Json vg, Json lvs) {
    List<Volume> volumes = new ArrayList<>();
    for (Json lv : lvs.elements()) {
      String path = text(lv, "lv_path");
      if (!path.isEmpty()) { // internal volumes have none
        volumes.add(
            new Volume(
                text(lv, "lv_name"),
                Path.of(path),
                bytes(lv, "lv_size"),
                tags(text(lv, "lv_tags"))));
      }
    }
    return new Group(
        text(vg, "vg_name"),
        bytes(vg, "vg_size"),
        bytes(vg, "vg_free"),
        bytes(vg, "vg_extent_size"),
        volumes);
  }

  private static List<String> tags(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(",", -1));
  }

  private static String text(Json node, String field) {
    return node.path(field).asText();
  }

  private static long bytes(Json node, String field) {
    return Long.parseLong(text(node, field));
  }
}
