package io.pmemcsi.embedded.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.fault.EventFault;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.SeenEvent;
import io.pmemcsi.embedded.http.HttpReply.CutException;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.server.Api;
import io.pmemcsi.embedded.server.ApiRequest;
import io.pmemcsi.embedded.store.Change;
import io.pmemcsi.embedded.store.Change.Kind;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Sends the events of one watch, with injected faults. It sends no bookmarks. */
final class WatchStream {
  private final long number;
  private final ApiRequest request;
  private final String selection;
  private final Predicate<JsonNode> filter;
  private final FaultPlan faults;
  private final OutputStream out;
  private final List<ObjectNode> heldBack = new ArrayList<>();

  WatchStream(long number, ApiRequest request, FaultPlan faults, OutputStream out) {
    this.number = number;
    this.request = request;
    this.selection = selection(request);
    this.filter = Api.filter(request);
    this.faults = faults;
    this.out = out;
  }

  private static String selection(ApiRequest request) {
    return Stream.of(
            request.namespace().isEmpty() ? "" : request.namespace() + "/",
            request.parameter("labelSelector"),
            request.parameter("fieldSelector"))
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining(" "));
  }

  /** Sends an object that existed before the watch. */
  void existing(ObjectNode object, long revision) throws IOException, InterruptedException {
    if (filter.test(object)) {
      send(Kind.ADDED, object, revision);
    }
  }

  /** Sends a change if the watch selects it. */
  void change(Change change) throws IOException, InterruptedException {
    if (!change.key().in(request.type().group(), request.type().plural(), request.namespace())) {
      return;
    }
    Optional<Kind> event = event(change);
    if (event.isPresent()) {
      ObjectNode object = change.object();
      if (event.get() == Kind.DELETED && change.kind() != Kind.DELETED) {
        object = change.before().orElseThrow().deepCopy();
        Json.child(object, "metadata").put("resourceVersion", Long.toString(change.revision()));
      }
      send(event.get(), object, change.revision());
    }
  }

  // For a selector, an object is added when it begins to match and deleted when it stops.
  private Optional<Kind> event(Change change) {
    boolean before = change.before().filter(filter).isPresent();
    boolean after = change.kind() != Kind.DELETED && filter.test(change.object());
    if (after) {
      return Optional.of(before ? Kind.MODIFIED : Kind.ADDED);
    }
    return before ? Optional.of(Kind.DELETED) : Optional.empty();
  }

  private void send(Kind event, ObjectNode object, long revision)
      throws IOException, InterruptedException {
    ObjectNode line =
        Json.object()
            .put("type", event.name())
            .set("object", Api.inVersion(request.type(), object));
    SeenEvent seen =
        new SeenEvent(
            number,
            selection,
            event.name(),
            request.type().group(),
            request.type().plural(),
            Json.text(object, "metadata", "namespace"),
            Json.text(object, "metadata", "name"),
            revision);
    switch (faults.onEvent(seen)) {
      case EventFault.Drop _ -> {}
      case EventFault.HoldBack _ -> heldBack.add(line);
      case EventFault.Cut _ -> throw new CutException();
      case EventFault.Duplicate _ -> {
        write(line);
        writeWithHeldBack(line);
      }
      case EventFault.Delay(var duration) -> {
        FaultInjector.pause(duration);
        writeWithHeldBack(line);
      }
    }
  }

  private void writeWithHeldBack(ObjectNode line) throws IOException {
    write(line);
    for (ObjectNode late : heldBack) {
      write(late);
    }
    heldBack.clear();
  }

  /** Sends why the watch cannot continue. */
  void error(ObjectNode status) throws IOException {
    write(Json.object().put("type", "ERROR").set("object", status));
  }

  private void write(JsonNode line) throws IOException {
    out.write(Json.MAPPER.writeValueAsBytes(line));
    out.write('\n');
    out.flush();
  }
}
