package io.pmemcsi.embedded.fault;

/**
 * A watch event that is about to be sent.
 *
 * @param watch the number of the watch's request
 * @param selection what the watch selects among the objects of its kind, such as "default/ app=d";
 *     "" for everything
 * @param type ADDED, MODIFIED or DELETED
 */
public record SeenEvent(
    long watch,
    String selection,
    String type,
    String group,
    String plural,
    String namespace,
    String name,
    long revision) {

  /** Such as "ADDED daemonsets.apps default/node", and the selection of the watch. */
  @Override
  public String toString() {
    return "%s %s%s %s%s %s"
        .formatted(
            type,
            plural,
            group.isEmpty() ? "" : "." + group,
            namespace.isEmpty() ? "" : namespace + "/",
            name,
            selection)
        .strip();
  }
}
