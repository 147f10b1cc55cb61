package io.pmemcsi.operator.engine;

/** What becomes of a label that was wanted once and no longer is. */
public enum FormerLabels {
  /** It stays: labels are added or overwritten, never removed. */
  KEEP,
  /** It goes, as any other value does. */
  DROP
}
