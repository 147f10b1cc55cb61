package io.pmemcsi.embedded.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.fault.EventFault;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.SeenEvent;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.server.Api;
import io.pmemcsi.embedded.server.ApiRequest;
import io.pmemcsi.embedded.store.Change;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes events to one watcher, with what the faults make of them. */
final class WatchStream {
  private final long number;
  private final ResourceType type;
  private final String namespace;
  private final String selection;
  private final Predicate<JsonNode> filter;
  private final FaultPlan faults;
  private final OutputStream out;
  private final List<ObjectNode> heldBack = new ArrayList<>();

  WatchStream(long number, ApiRequest request, FaultPlan faults, OutputStream out) {
    this.number = number;
    this.type = request.type();
    this.namespace = request.namespace();
    this.selection = selection(request);
    this.filter = Api.filter(request);
    this.faults = faults;
    this.out = out;
  }

  private static String selection(ApiRequest request) {
    return Stream.of(
            request.namespace().isEmpty() ? "" : request.namespace() + "/",
            request.query().getOrDefault("labelSelector", ""),
            request.query().getOrDefault("fieldSelector", ""))
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining(" "));
  }

  /** Tells of an object that was there before the watch began. */
  void existing(ObjectNode object, long revision) throws IOException, InterruptedException {
    if (filter.test(object)) {
      send("ADDED", object, revision);
    }
  }

  /** Tells of a change, as far as this watcher is concerned. */
  void change(Change change) throws IOException, InterruptedException {
    if (!change.key().in(type.group(), type.plural(), namespace)) {
      return;
    }
    Optional<String> event = event(change);
    if (event.isPresent()) {
      ObjectNode object = change.object();
      if (event.get().equals("DELETED") && change.kind() != Change.Kind.DELETED) {
        object = change.before().orElseThrow().deepCopy();
        Json.child(object, "metadata").put("resourceVersion", Long.toString(change.revision()));
      }
      send(event.get(), object, change.revision());
    }
  }

  // To a watcher with a selector, an object comes when it begins to match and goes when it stops.
  private Optional<String> event(Change change) {
    boolean before = change.before().filter(filter).isPresent();
    boolean after = change.kind() != Change.Kind.DELETED && filter.test(change.object());
    if (before && after) {
      return Optional.of("MODIFIED");
    }
    if (after) {
      return Optional.of("ADDED");
    }
    return before ? Optional.of("DELETED") : Optional.empty();
  }

  private void send(String event, ObjectNode object, long revision)
      throws IOException, InterruptedException {
    ObjectNode line = Json.object().put("type", event).set("object", Api.as(type, object));
    JsonNode metadata = object.path("metadata");
    SeenEvent seen =
        new SeenEvent(
            number,
            selection,
            event,
            type.group(),
            type.plural(),
            Json.text(metadata, "namespace"),
            Json.text(metadata, "name"),
            revision);
    switch (faults.onEvent(seen)) {
      case EventFault.Drop _ -> {}
      case EventFault.HoldBack _ -> heldBack.add(line);
      case EventFault.Cut _ -> throw new CutException();
      case EventFault.Duplicate _ -> {
        write(line);
        write(line);
        releaseHeldBack();
      }
      case EventFault.Delay(var duration) -> {
        if (duration.isPositive()) {
          Thread.sleep(duration);
        }
        write(line);
        releaseHeldBack();
      }
    }
  }

  private void releaseHeldBack() throws IOException {
    for (ObjectNode line : heldBack) {
      write(line);
    }
    heldBack.clear();
  }

  /** Says how far the watcher has come, though nothing happened to its objects. */
  void bookmark(long revision) throws IOException {
    if (!heldBack.isEmpty()) {
      return; // whoever went on from there would never be told of them
    }
    ObjectNode object = Json.object().put("kind", type.kind()).put("apiVersion", type.apiVersion());
    object.putObject("metadata").put("resourceVersion", Long.toString(revision));
    write(Json.object().put("type", "BOOKMARK").set("object", object));
  }

  /** Says why the watch cannot go on. */
  void error(ObjectNode status) throws IOException {
    write(Json.object().put("type", "ERROR").set("object", status));
  }

  private void write(JsonNode line) throws IOException {
    out.write(Json.MAPPER.writeValueAsBytes(line));
    out.write('\n');
    out.flush();
  }
}
