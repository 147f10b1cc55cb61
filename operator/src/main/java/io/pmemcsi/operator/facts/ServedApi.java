package io.pmemcsi.operator.facts;

/** An optional API that the desired objects depend on. */
public enum ServedApi {
  /** {@code CSIStorageCapacity} in a version that the scheduler uses by default. */
  STORAGE_CAPACITY,
  /** OpenShift's security context constraints, {@code security.openshift.io/v1}. */
  OPENSHIFT_SECURITY,
  /** Snapshots of volumes, {@code snapshot.storage.k8s.io/v1}. */
  SNAPSHOTS,
  /** Admission policies in CEL, {@code admissionregistration.k8s.io/v1}. */
  ADMISSION_POLICIES
}
