package io.pmemcsi.testbed.kubernetes;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** What one test gets of the shared cluster: a namespace, clients, and a list of what to remove. */
public final class Sandbox implements AutoCloseable {

  private static final int HINT_LENGTH = 40;
  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  private final Cluster cluster;
  private final String namespace;
  private final KubernetesClient client;
  private final Deque<Runnable> cleanups = new ArrayDeque<>();

  private Sandbox(Cluster cluster, String namespace, KubernetesClient client) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.client = client;
  }

  static Sandbox create(Cluster cluster, String hint) {
    String name = name(hint);
    cluster
        .admin()
        .resource(new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build())
        .create();
    createDefaultAccount(cluster.admin(), name);
    Config config =
        new ConfigBuilder(cluster.admin().getConfiguration()).withNamespace(name).build();
    return new Sandbox(cluster, name, Clients.to(config).build());
  }

  /** The controller would do it too, but later, and pods are refused until then. */
  private static void createDefaultAccount(KubernetesClient admin, String namespace) {
    try {
      admin
          .resource(
              new ServiceAccountBuilder()
                  .withNewMetadata()
                  .withName("default")
                  .withNamespace(namespace)
                  .endMetadata()
                  .build())
          .create();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
    }
  }

  private static String name(String hint) {
    String clean = hint.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
    String start = clean.substring(0, Math.min(clean.length(), HINT_LENGTH));
    return "t-%s-%06x"
        .formatted(start, ThreadLocalRandom.current().nextInt(0x1000000))
        .replaceAll("-+", "-");
  }

  /** The fresh namespace. */
  public String namespace() {
    return namespace;
  }

  /** A client that may do everything, with the fresh namespace as its default. */
  public KubernetesClient client() {
    return client;
  }

  public Cluster cluster() {
    return cluster;
  }

  public KubernetesVersion version() {
    return cluster.version();
  }

  /** A client with just the rights of a service account in this namespace; closed with this. */
  public KubernetesClient clientAs(String serviceAccount) {
    return clientAs(namespace, serviceAccount);
  }

  /** The same for a service account of another namespace. */
  public KubernetesClient clientAs(String namespace, String serviceAccount) {
    return clientWith(token(namespace, serviceAccount), namespace);
  }

  /** A client with the token that kubelet gives to a pod that exists; closed with this. */
  public KubernetesClient clientOf(Pod pod) {
    String podNamespace = pod.getMetadata().getNamespace();
    TokenRequest bound =
        new TokenRequestBuilder()
            .withNewSpec()
            .withNewBoundObjectRef(
                "v1", "Pod", pod.getMetadata().getName(), pod.getMetadata().getUid())
            .endSpec()
            .build();
    return clientWith(
        token(podNamespace, pod.getSpec().getServiceAccountName(), bound), podNamespace);
  }

  private KubernetesClient clientWith(String token, String namespace) {
    Config admin = client.getConfiguration();
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(admin.getMasterUrl())
            .withCaCertData(admin.getCaCertData())
            .withOauthToken(token)
            .withNamespace(namespace)
            .build();
    KubernetesClient limited = Clients.to(config).build();
    cleanUp(limited::close);
    return limited;
  }

  /**
   * A kubeconfig with just the rights of a service account in this namespace; deleted with this.
   */
  public Path kubeconfigAs(String serviceAccount) {
    Config admin = client.getConfiguration();
    try {
      Path file = Files.createTempFile("pmem-csi-", ".kubeconfig");
      cleanUp(() -> delete(file));
      String authority =
          new String(Base64.getDecoder().decode(admin.getCaCertData()), StandardCharsets.UTF_8);
      return Kubeconfig.write(
          file, admin.getMasterUrl(), authority, token(namespace, serviceAccount));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write a kubeconfig for " + serviceAccount, e);
    }
  }

  /** Whether the server would let a service account of the namespace do that, wherever it is. */
  public boolean may(String serviceAccount, String verb, String group, String resource) {
    return may(user(namespace, serviceAccount), "", verb, group, resource);
  }

  private static String user(String namespace, String serviceAccount) {
    return "system:serviceaccount:%s:%s".formatted(namespace, serviceAccount);
  }

  private boolean may(String user, String where, String verb, String group, String resource) {
    return client
        .authorization()
        .v1()
        .subjectAccessReview()
        .create(
            new SubjectAccessReviewBuilder()
                .withNewSpec()
                .withUser(user)
                .withNewResourceAttributes()
                .withNamespace(where)
                .withVerb(verb)
                .withGroup(group)
                .withResource(resource)
                .endResourceAttributes()
                .endSpec()
                .build())
        .getStatus()
        .getAllowed();
  }

  /**
   * Returns when the server lets a service account of the namespace do that there: it learns of
   * roles and bindings a moment after it has taken them.
   */
  public void awaitRight(String serviceAccount, String verb, String group, String resource) {
    awaitRight(namespace, serviceAccount, verb, group, resource);
  }

  /** The same for what it may do in another namespace. */
  public void awaitRight(
      String where, String serviceAccount, String verb, String group, String resource) {
    awaitRight(namespace, serviceAccount, where, verb, group, resource);
  }

  /** The same for a service account of another namespace. */
  public void awaitRight(
      String namespace,
      String serviceAccount,
      String where,
      String verb,
      String group,
      String resource) {
    await("%s may %s %s in %s".formatted(serviceAccount, verb, resource, where))
        .atMost(TIMEOUT)
        .pollDelay(Duration.ZERO)
        .until(() -> may(user(namespace, serviceAccount), where, verb, group, resource));
  }

  /** Something to do at the end, before the namespace is deleted; the last one is done first. */
  public void cleanUp(Runnable action) {
    cleanups.push(action);
  }

  /** Creates an object that the namespace's end does not take along, and deletes it at the end. */
  public <T extends HasMetadata> T create(T object) {
    T created = client.resource(object).create();
    deleteAtEnd(created);
    return created;
  }

  /**
   * Deletes an object, such as one without namespace, at the end, and waits until it is not found.
   */
  public void deleteAtEnd(HasMetadata object) {
    cleanUp(() -> client.resource(object).withTimeout(2, TimeUnit.MINUTES).delete());
  }

  @Override
  public void close() {
    RuntimeException failed = new IllegalStateException("clean-up of " + namespace + " failed");
    cleanups.addLast(() -> cluster.admin().namespaces().withName(namespace).delete());
    cleanups.addLast(client::close);
    while (!cleanups.isEmpty()) {
      try {
        cleanups.pop().run();
      } catch (RuntimeException e) {
        failed.addSuppressed(e);
      }
    }
    if (failed.getSuppressed().length > 0) {
      throw failed;
    }
  }

  private String token(String namespace, String serviceAccount) {
    return token(
        namespace, serviceAccount, new TokenRequestBuilder().withNewSpec().endSpec().build());
  }

  private String token(String namespace, String serviceAccount, TokenRequest request) {
    return client
        .serviceAccounts()
        .inNamespace(namespace)
        .withName(serviceAccount)
        .tokenRequest(request)
        .getStatus()
        .getToken();
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + file, e);
    }
  }
}
