package io.pmemcsi.operator.controller;

import static java.net.HttpURLConnection.HTTP_CONFLICT;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.operator.facts.Refusal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes events. The name of an event follows from what it says and from the state in which it is
 * said, so that a repetition after a crash gets a conflict with the existing event.
 */
public final class EventWriter {

  private static final Logger LOG = LoggerFactory.getLogger(EventWriter.class);

  /** Where events about resources of the whole cluster belong. */
  private static final String CLUSTER_NAMESPACE = "default";

  private static final int MAX_MESSAGE = 1024;

  private final KubernetesClient client;
  private final String component;
  private final Clock clock;

  public EventWriter(KubernetesClient client, String component, Clock clock) {
    this.client = client;
    this.component = component;
    this.clock = clock;
  }

  /**
   * Writes an event unless it was written before. An event that cannot be written is logged: it
   * must not keep the driver from being deployed.
   *
   * @param dedupKey distinguishes one occurrence from another, for example the time of the last
   *     change
   */
  public void write(HasMetadata about, EventMessage message, String dedupKey) {
    try {
      client.resource(event(about, message, dedupKey)).create();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HTTP_CONFLICT) {
        LOG.atWarn()
            .addKeyValue("cause", Refusal.reason(e))
            .addKeyValue("resource", about.getMetadata().getName())
            .addKeyValue("reason", message.reason())
            .log("Event not written.");
      }
    }
  }

  private Event event(HasMetadata about, EventMessage message, String dedupKey) {
    var metadata = about.getMetadata();
    String namespace =
        metadata.getNamespace() == null ? CLUSTER_NAMESPACE : metadata.getNamespace();
    String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    return new EventBuilder()
        .withNewMetadata()
        .withName(metadata.getName() + "." + digest(metadata.getUid(), message, dedupKey))
        .withNamespace(namespace)
        .endMetadata()
        .withNewInvolvedObject()
        .withApiVersion(about.getApiVersion())
        .withKind(about.getKind())
        .withNamespace(metadata.getNamespace())
        .withName(metadata.getName())
        .withUid(metadata.getUid())
        .endInvolvedObject()
        .withType(message.warning() ? "Warning" : "Normal")
        .withReason(message.reason())
        .withMessage(cut(message.message()))
        .withNewSource()
        .withComponent(component)
        .endSource()
        .withFirstTimestamp(now)
        .withLastTimestamp(now)
        .withCount(1)
        .build();
  }

  private static String cut(String message) {
    return message.length() <= MAX_MESSAGE ? message : message.substring(0, MAX_MESSAGE - 1) + "…";
  }

  private static String digest(String uid, EventMessage message, String dedupKey) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256")
              .digest(
                  String.join("\n", uid, message.reason(), message.message(), dedupKey)
                      .getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
