package io.pmemcsi.driver.registry;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.ListVolumesResponse;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.ValidateVolumeCapabilitiesResponse;
import java.util.List;
import java.util.Map;

/**
 * The CSI Controller service of one node. Each call fails with a {@link
 * RegistryException.NodeFailed}, and ends with the call that it serves.
 */
interface NodeClient extends AutoCloseable {

  CreateVolumeResponse create(CreateVolumeRequest request);

  void delete(DeleteVolumeRequest request);

  ValidateVolumeCapabilitiesResponse validate(ValidateVolumeCapabilitiesRequest request);

  List<ListVolumesResponse.Entry> list();

  /** The capacity for volumes of a storage class with these parameters. */
  GetCapacityResponse capacity(Map<String, String> parameters);

  /** False while the node cannot be connected to; connects where the connection was lost. */
  boolean isReachable();

  @Override
  void close();

  /** How nodes are reached. */
  @FunctionalInterface
  interface Connector {
    NodeClient connect(String nodeId, TcpEndpoint endpoint);
  }
}
