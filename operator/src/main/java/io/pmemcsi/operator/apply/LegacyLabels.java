package io.pmemcsi.operator.apply;

/** What becomes of a label that was wanted once and no longer is. */
public enum LegacyLabels {
  /** It stays: labels are added or overwritten, never removed. */
  KEEP,
  /** It goes, as any other value does. */
  DROP
}
