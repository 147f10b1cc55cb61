package io.pmemcsi.operator.objects;

import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.ContainerPortBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSecurityContextBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;

/** The small parts of pods: variables, volumes, mounts, ports and probes. */
public final class Pods {

  private static final int PROBE_TIMEOUT_SECONDS = 5;
  private static final long USER = 1000;

  private Pods() {}

  public static EnvVar variable(String name, String value) {
    return new EnvVarBuilder().withName(name).withValue(value).build();
  }

  /** A variable that the kubelet fills in from a field of the pod. */
  public static EnvVar podField(String name, String path) {
    return new EnvVarBuilder()
        .withName(name)
        .withNewValueFrom()
        .withNewFieldRef("v1", path)
        .endValueFrom()
        .build();
  }

  public static VolumeMount mount(String volume, String path) {
    return new VolumeMountBuilder().withName(volume).withMountPath(path).build();
  }

  /** What the container mounts below becomes visible on the node, and the other way round. */
  public static VolumeMount bidirectionalMount(String volume, String path) {
    return new VolumeMountBuilder(mount(volume, path))
        .withMountPropagation("Bidirectional")
        .build();
  }

  public static Volume emptyDir(String name) {
    return new VolumeBuilder().withName(name).withNewEmptyDir().endEmptyDir().build();
  }

  public static Volume secret(String name, String secret) {
    return new VolumeBuilder()
        .withName(name)
        .withNewSecret()
        .withSecretName(secret)
        .endSecret()
        .build();
  }

  /** A directory of the node that must exist. */
  public static Volume hostDirectory(String name, String path) {
    return hostPath(name, path, "Directory");
  }

  /** A directory of the node that the kubelet creates where it is missing. */
  public static Volume hostDirectoryOrCreate(String name, String path) {
    return hostPath(name, path, "DirectoryOrCreate");
  }

  private static Volume hostPath(String name, String path, String type) {
    return new VolumeBuilder().withName(name).withNewHostPath(path, type).build();
  }

  public static ContainerPort port(String name, int number) {
    return new ContainerPortBuilder()
        .withName(name)
        .withContainerPort(number)
        .withProtocol("TCP")
        .build();
  }

  /**
   * An HTTP probe.
   *
   * @param port the name of a container port
   */
  public static Probe httpProbe(String path, String port, int periodSeconds, int failures) {
    return new ProbeBuilder()
        .withNewHttpGet()
        .withPath(path)
        .withPort(new IntOrString(port))
        .endHttpGet()
        .withPeriodSeconds(periodSeconds)
        .withTimeoutSeconds(PROBE_TIMEOUT_SECONDS)
        .withFailureThreshold(failures)
        .build();
  }

  public static SecurityContext readOnlyRootFilesystem() {
    return new SecurityContextBuilder().withReadOnlyRootFilesystem(true).build();
  }

  /** What a container gets that needs nothing of its node. */
  public static SecurityContext unprivileged() {
    return new SecurityContextBuilder()
        .withReadOnlyRootFilesystem(true)
        .withAllowPrivilegeEscalation(false)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .build();
  }

  /** For pods that do not need root. Their volumes belong to a group that the user is in. */
  public static PodSecurityContext nonRoot() {
    return new PodSecurityContextBuilder()
        .withRunAsNonRoot(true)
        .withRunAsUser(USER)
        .withFsGroup(USER)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .build();
  }

  /**
   * The same for pods with our own image only, whose user is not root, and without volumes that
   * need a group. Where the platform chooses the user, as OpenShift does, it refuses pods that name
   * one.
   */
  public static PodSecurityContext nonRootOfImage() {
    return new PodSecurityContextBuilder()
        .withRunAsNonRoot(true)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .build();
  }

  /**
   * The same where the platform chooses user, group and seccomp profile, as OpenShift does, which
   * refuses pods that choose them.
   */
  public static PodSecurityContext nonRootOfPlatform() {
    return new PodSecurityContextBuilder().withRunAsNonRoot(true).build();
  }

  public static SecurityContext privileged() {
    return new SecurityContextBuilder().withPrivileged(true).withRunAsUser(0L).build();
  }

  /** For pods that must run on every node that is selected. */
  public static Toleration tolerateEverything() {
    return new TolerationBuilder().withOperator("Exists").build();
  }

  /** Tolerates taints with this key, whatever their value and effect. */
  public static Toleration tolerateKey(String key) {
    return new TolerationBuilder().withKey(key).withOperator("Exists").build();
  }

  public static Toleration tolerate(String effect) {
    return new TolerationBuilder().withOperator("Exists").withEffect(effect).build();
  }
}
