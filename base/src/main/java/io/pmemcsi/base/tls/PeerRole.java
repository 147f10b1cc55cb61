package io.pmemcsi.base.tls;

/**
 * The two sides of central provisioning. Each has a name that its certificate must carry, so that
 * the certificate of one side is useless on the other.
 */
public enum PeerRole {
  /** The central controller. */
  REGISTRY("pmem-registry"),
  /** A driver on a node. */
  NODE_CONTROLLER("pmem-node-controller");

  private final String certificateName;

  PeerRole(String certificateName) {
    this.certificateName = certificateName;
  }

  /** The DNS name in certificates of this side. */
  public String certificateName() {
    return certificateName;
  }
}
