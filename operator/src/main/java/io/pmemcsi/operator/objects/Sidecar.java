package io.pmemcsi.operator.objects;

/** A container of the Kubernetes project that connects a CSI driver with Kubernetes. */
public enum Sidecar {
  PROVISIONER("csi-provisioner"),
  ATTACHER("csi-attacher"),
  REGISTRAR("csi-node-driver-registrar"),
  LIVENESS_PROBE("livenessprobe"),
  RESIZER("csi-resizer"),
  SNAPSHOTTER("csi-snapshotter");

  private final String repository;

  Sidecar(String repository) {
    this.repository = repository;
  }

  String repository() {
    return repository;
  }
}
