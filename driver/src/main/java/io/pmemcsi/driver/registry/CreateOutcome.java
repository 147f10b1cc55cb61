package io.pmemcsi.driver.registry;

/** What a failed CreateVolume call means for the volume on the called node. */
enum CreateOutcome {
  /** The node has not enough capacity; another node may have. */
  INSUFFICIENT_CAPACITY,
  /** The node refused; others would do the same. */
  REFUSED,
  /** The volume is there, and is not what was asked for. */
  EXISTS,
  /** The node may have created the volume, or may still do so. */
  UNCERTAIN,
  /** Something is wrong with the node, which may have left something behind. */
  BROKEN
}
