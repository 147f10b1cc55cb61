package io.pmemcsi.app.convert;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.app.settings.DriverProgramSettings;
import io.pmemcsi.app.settings.NodeSelector;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.RawNamespaces;
import io.pmemcsi.operator.runtime.ApiAccess;
import io.pmemcsi.operator.runtime.KubeconfigContent;
import java.io.IOException;
import java.util.Optional;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the raw memory of one node usable and then lets Kubernetes put the driver there. */
public final class NodeConversion {

  private static final Logger LOG = LoggerFactory.getLogger(NodeConversion.class);

  private final KubernetesClient client;
  private final String node;
  private final Relabelling relabelling;

  NodeConversion(KubernetesClient client, String node, DriverName driver, NodeSelector selector) {
    this.client = client;
    this.node = node;
    this.relabelling = new Relabelling(driver, selector);
  }

  /**
   * Does it for this node, with the real tools.
   *
   * @param kubeconfig empty for the pod's own account
   */
  public static void run(DriverProgramSettings settings, Optional<KubeconfigContent> kubeconfig) {
    RawNamespaces namespaces = new RawNamespaces();
    try (KubernetesClient client = ApiAccess.client(kubeconfig)) {
      new NodeConversion(
              client,
              settings.driver().nodeId(),
              settings.driver().driverName(),
              settings.nodeSelector())
          .run(namespaces::convert, namespaces::explain);
    }
  }

  /**
   * Converts and then relabels, so that the driver does not start before there is something to use.
   *
   * @param conversion returns how many namespaces are in use afterwards
   * @param explanation writes the state of the node to the log, where anything fails
   */
  void run(IntSupplier conversion, Runnable explanation) {
    try {
      int namespaces = conversion.getAsInt();
      relabel();
      LOG.atInfo()
          .addKeyValue("node", node)
          .addKeyValue("namespaces", namespaces)
          .log("Raw namespaces are converted, the node is labelled.");
    } catch (RuntimeException e) {
      explanation.run();
      throw e;
    }
  }

  /** All labels change in one patch: with only some of them no driver would run on the node. */
  private void relabel() {
    try {
      new NodePatch(client).send(node, relabelling.patch());
    } catch (IOException e) {
      throw new FatalException(
          "cannot change the labels of node %s: %s; check -nodeid, and that this account may patch"
                  .formatted(node, e.getMessage())
              + " nodes",
          e);
    }
  }
}
