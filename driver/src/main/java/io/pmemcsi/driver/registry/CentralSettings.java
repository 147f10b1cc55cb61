package io.pmemcsi.driver.registry;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import java.nio.file.Path;

/**
 * What the central controller runs with.
 *
 * @param name stands in front of error messages, as the node's name does on nodes
 * @param endpoint where the provisioner finds the CSI services
 * @param registry where nodes register
 * @param server proves to nodes that register who this is
 * @param client proves to nodes that are called who calls
 * @param statePath where the controller keeps which node holds which volume
 * @param expandable whether the device mode of the nodes can expand volumes
 * @param inventory names nodes that the records do not, for example because they are lost
 */
public record CentralSettings(
    DriverName driver,
    String name,
    Endpoint endpoint,
    TcpEndpoint registry,
    TlsFiles server,
    TlsFiles client,
    Path statePath,
    boolean expandable,
    NodeInventory inventory) {}
