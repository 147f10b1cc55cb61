package io.pmemcsi.controller.volume;

import java.util.List;

/**
 * A pod with those of its volumes that may belong to a CSI driver.
 *
 * @param uid empty for a pod that is only about to be created
 */
public record PodVolumes(String namespace, String name, String uid, List<Volume> volumes) {

  public PodVolumes {
    volumes = List.copyOf(volumes);
  }

  /** Identifies the pod in reservations; a pod that was deleted and recreated is another one. */
  public String key() {
    return uid.isEmpty() ? namespace + "/" + name : uid;
  }

  /** A volume of a pod. */
  public sealed interface Volume {

    /** The name of the volume inside the pod. */
    String name();
  }

  /** A reference to a PersistentVolumeClaim. */
  public record ClaimReference(String name, String claimName) implements Volume {}

  /**
   * A CSI ephemeral inline volume.
   *
   * @param size its {@code size} attribute; empty if there is none
   * @param numaNode the NUMA node whose memory it must be in; empty for any
   */
  public record Inline(String name, String driver, String size, String numaNode)
      implements Volume {}

  /**
   * A generic ephemeral volume, for which Kubernetes creates a claim.
   *
   * @param className empty for the default class
   * @param request the requested storage; empty if there is none
   */
  public record Generic(String name, String className, String request) implements Volume {

    /** The name of the claim that Kubernetes creates. */
    String claimName(String pod) {
      return pod + "-" + name;
    }
  }
}
