package io.pmemcsi.operator.apply;

/** Whether labels that are no longer desired stay on an object. */
public enum LabelRetention {
  /** Labels are added or overwritten, never removed. */
  KEEP,
  /** Labels are removed, as any other field is. */
  DROP
}
