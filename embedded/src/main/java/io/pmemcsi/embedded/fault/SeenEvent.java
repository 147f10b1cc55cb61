package io.pmemcsi.embedded.fault;

/**
 * A watch event on its way to one watcher.
 *
 * @param watch the number of the watch's request
 * @param type ADDED, MODIFIED or DELETED
 */
public record SeenEvent(
    long watch,
    String type,
    String group,
    String plural,
    String namespace,
    String name,
    long revision) {}
