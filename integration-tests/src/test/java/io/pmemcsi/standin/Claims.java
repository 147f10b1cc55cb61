package io.pmemcsi.standin;

import csi.v1.CapacityRange;
import csi.v1.CreateVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.Topology;
import csi.v1.TopologyRequirement;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode;
import csi.v1.VolumeCapability.BlockVolume;
import csi.v1.VolumeCapability.MountVolume;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Provisions claims. */
record Claims(
    KubernetesClient client,
    DriverClient driver,
    String driverName,
    Nodes nodes,
    String defaultFsType) {

  static final String PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";

  private static final String SELECTED_NODE = "volume.kubernetes.io/selected-node";
  private static final String FS_TYPE = "csi.storage.k8s.io/fstype";

  void provision() {
    Map<String, StorageClass> classes = new HashMap<>();
    client
        .storage()
        .v1()
        .storageClasses()
        .list()
        .getItems()
        .forEach(
            storageClass -> {
              if (storageClass.getProvisioner().equals(driverName)) {
                classes.put(storageClass.getMetadata().getName(), storageClass);
              }
            });
    for (PersistentVolumeClaim claim :
        client.persistentVolumeClaims().inAnyNamespace().list().getItems()) {
      String storageClass = claim.getSpec().getStorageClassName();
      if (storageClass != null
          && classes.containsKey(storageClass)
          && claim.getSpec().getVolumeName() == null
          && claim.getMetadata().getDeletionTimestamp() == null) {
        consider(claim, classes.get(storageClass));
      }
    }
  }

  private void consider(PersistentVolumeClaim claim, StorageClass storageClass) {
    Map<String, String> annotations = claim.getMetadata().getAnnotations();
    String selected = annotations == null ? null : annotations.get(SELECTED_NODE);
    if (selected != null) {
      nodes.topology(selected).ifPresent(topology -> provision(claim, storageClass, topology));
    } else if ("Immediate".equals(storageClass.getVolumeBindingMode())
        && nodes instanceof Nodes.Own own
        && size(claim) <= capacity(storageClass, own.topology())) {
      // whichever node is first owns the claim; the server refuses the others' updates
      claim.getMetadata().setAnnotations(with(annotations, SELECTED_NODE, own.name()));
      client.resource(claim).update();
    }
  }

  private static Map<String, String> with(
      @Nullable Map<String, String> annotations, String key, String value) {
    Map<String, String> all = new HashMap<>(Objects.requireNonNullElse(annotations, Map.of()));
    all.put(key, value);
    return all;
  }

  private long capacity(StorageClass storageClass, Topology topology) {
    return ProvisionerStandIn.capacity(
        driver,
        GetCapacityRequest.newBuilder()
            .putAllParameters(parameters(storageClass))
            .setAccessibleTopology(topology)
            .build());
  }

  private void provision(
      PersistentVolumeClaim claim, StorageClass storageClass, Topology topology) {
    String name = "pvc-" + claim.getMetadata().getUid();
    if (client.persistentVolumes().withName(name).get() != null) {
      return; // the controller binds it
    }
    boolean block = "Block".equals(claim.getSpec().getVolumeMode());
    String fsType = fsType(storageClass);
    Volume volume =
        driver
            .controller()
            .createVolume(
                CreateVolumeRequest.newBuilder()
                    .setName(name)
                    .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(size(claim)))
                    .putAllParameters(parameters(storageClass))
                    .addVolumeCapabilities(capability(block, fsType))
                    .setAccessibilityRequirements(
                        TopologyRequirement.newBuilder()
                            .addRequisite(topology)
                            .addPreferred(topology))
                    .build())
            .getVolume();
    client.resource(volume(name, claim, storageClass, volume, block ? "" : fsType)).create();
    System.out.println("provisioned " + name);
  }

  private static VolumeCapability capability(boolean block, String fsType) {
    VolumeCapability.Builder capability =
        VolumeCapability.newBuilder()
            .setAccessMode(
                AccessMode.newBuilder().setMode(AccessMode.Mode.SINGLE_NODE_WRITER).build());
    if (block) {
      capability.setBlock(BlockVolume.getDefaultInstance());
    } else {
      capability.setMount(MountVolume.newBuilder().setFsType(fsType));
    }
    return capability.build();
  }

  private PersistentVolume volume(
      String name,
      PersistentVolumeClaim claim,
      StorageClass storageClass,
      Volume volume,
      String fsType) {
    Map<String, String> attributes = new HashMap<>(volume.getVolumeContextMap());
    attributes.put("storage.kubernetes.io/csiProvisionerIdentity", "stand-in-" + driverName);
    PersistentVolumeBuilder builder =
        new PersistentVolumeBuilder()
            .withNewMetadata()
            .withName(name)
            .addToAnnotations(PROVISIONED_BY, driverName)
            .endMetadata()
            .withNewSpec()
            .withStorageClassName(storageClass.getMetadata().getName())
            .withAccessModes(claim.getSpec().getAccessModes())
            .addToCapacity("storage", new Quantity(Long.toString(volume.getCapacityBytes())))
            .withPersistentVolumeReclaimPolicy(storageClass.getReclaimPolicy())
            .withMountOptions(storageClass.getMountOptions())
            .withVolumeMode(claim.getSpec().getVolumeMode())
            .withNewClaimRef()
            .withApiVersion("v1")
            .withKind("PersistentVolumeClaim")
            .withNamespace(claim.getMetadata().getNamespace())
            .withName(claim.getMetadata().getName())
            .withUid(claim.getMetadata().getUid())
            .withResourceVersion(claim.getMetadata().getResourceVersion())
            .endClaimRef()
            .withNewCsi()
            .withDriver(driverName)
            .withVolumeHandle(volume.getVolumeId())
            .withVolumeAttributes(attributes)
            .withFsType(fsType.isEmpty() ? null : fsType)
            .endCsi()
            .withNewNodeAffinity()
            .withNewRequired()
            .addNewNodeSelectorTerm()
            .endNodeSelectorTerm()
            .endRequired()
            .endNodeAffinity()
            .endSpec();
    volume.getAccessibleTopologyList().stream()
        .flatMap(segment -> segment.getSegmentsMap().entrySet().stream())
        .forEach(
            segment ->
                builder
                    .editSpec()
                    .editNodeAffinity()
                    .editRequired()
                    .editFirstNodeSelectorTerm()
                    .addNewMatchExpression()
                    .withKey(segment.getKey())
                    .withOperator("In")
                    .withValues(segment.getValue())
                    .endMatchExpression()
                    .endNodeSelectorTerm()
                    .endRequired()
                    .endNodeAffinity()
                    .endSpec());
    return builder.build();
  }

  private String fsType(StorageClass storageClass) {
    Map<String, String> parameters = storageClass.getParameters();
    return parameters == null ? defaultFsType : parameters.getOrDefault(FS_TYPE, defaultFsType);
  }

  /** Those of the driver: the others are for the provisioner. */
  private static Map<String, String> parameters(StorageClass storageClass) {
    Map<String, String> parameters =
        new HashMap<>(Objects.requireNonNullElse(storageClass.getParameters(), Map.of()));
    parameters.keySet().removeIf(key -> key.startsWith("csi.storage.k8s.io/"));
    return parameters;
  }

  private static long size(PersistentVolumeClaim claim) {
    return claim
        .getSpec()
        .getResources()
        .getRequests()
        .getOrDefault("storage", new Quantity("0"))
        .getNumericalAmount()
        .longValueExact();
  }

  /** Whether a volume can be used on the node with this topology. */
  static boolean isHere(PersistentVolume volume, Topology topology) {
    return volume.getSpec().getNodeAffinity() != null
        && volume.getSpec().getNodeAffinity().getRequired().getNodeSelectorTerms().stream()
            .allMatch(
                term ->
                    term.getMatchExpressions().stream()
                        .allMatch(
                            expression ->
                                List.of(topology.getSegmentsOrDefault(expression.getKey(), ""))
                                    .equals(expression.getValues())));
  }
}
