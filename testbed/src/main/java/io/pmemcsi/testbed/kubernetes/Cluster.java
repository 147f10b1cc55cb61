package io.pmemcsi.testbed.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The one Kubernetes cluster that all tests of a JVM share: either a {@link ControlPlane} of their
 * own, or, where PMEM_CSI_TESTBED_KUBECONFIG names a file, one that runs already.
 */
public final class Cluster implements AutoCloseable {

  private static final String ATTACH = "PMEM_CSI_TESTBED_KUBECONFIG";

  private final @Nullable ControlPlane plane;
  private final Path kubeconfig;
  private final KubernetesClient admin;
  private final KubernetesVersion version;

  private Cluster(@Nullable ControlPlane plane, Path kubeconfig) {
    this.plane = plane;
    this.kubeconfig = kubeconfig;
    this.admin = Clients.to(Config.fromKubeconfig(kubeconfig.toFile())).build();
    this.version = KubernetesVersion.parse(admin.getKubernetesVersion().getGitVersion());
  }

  /** Starts an API server of its own, or attaches to the one that the environment names. */
  public static Cluster open() {
    String running = System.getenv().getOrDefault(ATTACH, "");
    return running.isEmpty() ? of(ControlPlane.start(Binaries.find())) : attach(Path.of(running));
  }

  /** Takes over a control plane: it stops when this closes. */
  public static Cluster of(ControlPlane plane) {
    return new Cluster(plane, plane.kubeconfig());
  }

  /** Uses a cluster that runs already, controllers included, and outlives this. */
  public static Cluster attach(Path kubeconfig) {
    return new Cluster(null, kubeconfig);
  }

  /** Returns when controllers and scheduler run. */
  public void startControllers() {
    if (plane != null) {
      plane.startControllers();
    }
  }

  /** Makes a fresh namespace; closing it deletes the namespace again. */
  public Sandbox newSandbox(String hint) {
    return Sandbox.create(this, hint);
  }

  /** A client that may do everything. It belongs to the cluster: do not close it. */
  public KubernetesClient admin() {
    return admin;
  }

  public KubernetesVersion version() {
    return version;
  }

  /** The file with which {@code kubectl} and our own program become administrator. */
  public Path kubeconfig() {
    return kubeconfig;
  }

  /** The servers, where they are our own. */
  public Optional<ControlPlane> controlPlane() {
    return Optional.ofNullable(plane);
  }

  @Override
  public void close() {
    admin.close();
    if (plane != null) {
      plane.close();
    }
  }
}
