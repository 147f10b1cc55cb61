package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.api.model.AuthInfo;
import io.fabric8.kubernetes.api.model.Cluster;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.file.BoundedText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the operator when the certificates for the API server were replaced in their files: the
 * client reads a new token by itself, but keeps the certificates with which it was created. A
 * process that starts again has the new ones.
 */
final class CertificateWatch implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(CertificateWatch.class);
  private static final Duration POLL_INTERVAL = Duration.ofSeconds(5);

  private final Optional<Path> kubeconfig;
  private final List<Path> files;
  private final FatalErrorHandler fatal;
  private final Thread watcher = Thread.ofVirtual().name("certificates").unstarted(this::poll);

  private CertificateWatch(Optional<Path> kubeconfig, List<Path> files, FatalErrorHandler fatal) {
    this.kubeconfig = kubeconfig;
    this.files = files;
    this.fatal = fatal;
  }

  /**
   * Starts to poll.
   *
   * @param kubeconfig the one that the operator was started with
   * @param client the configuration of the client, whose files count where there is no kubeconfig
   */
  static CertificateWatch start(
      Optional<KubeconfigContent> kubeconfig, Config client, FatalErrorHandler fatal) {
    CertificateWatch watch =
        new CertificateWatch(
            kubeconfig.map(KubeconfigContent::file).filter(Files::isRegularFile),
            kubeconfig.isPresent()
                ? List.of()
                : nonEmpty(client.getCaCertFile(), client.getClientCertFile()).stream()
                    .map(Path::of)
                    .toList(),
            fatal);
    watch.watcher.start();
    return watch;
  }

  @Override
  public void close() {
    watcher.interrupt();
  }

  private void poll() {
    Optional<List<String>> first = read();
    Optional<List<String>> last = first;
    try {
      while (true) {
        Thread.sleep(POLL_INTERVAL);
        Optional<List<String>> now = read();
        // twice the same: certificate and key may be replaced one after the other
        if (first.isPresent() && now.isPresent() && !now.equals(first) && now.equals(last)) {
          fatal.report(
              new FatalException(
                  "the certificates for the API server were replaced: this operator ends, to be"
                      + " restarted with the new ones"));
          return;
        }
        last = now;
        first = first.or(() -> now);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The certificates as they are now; nothing while they cannot be read. */
  private Optional<List<String>> read() {
    try {
      List<String> found = new ArrayList<>();
      for (Path file : files) {
        found.add(BoundedText.read(file));
      }
      if (kubeconfig.isPresent()) {
        addAll(kubeconfig.get(), found);
      }
      return Optional.of(found);
    } catch (IOException | RuntimeException e) {
      LOG.atDebug()
          .addKeyValue("error", e.getMessage())
          .log("The certificates for the API server cannot be read, trying again.");
      return Optional.empty();
    }
  }

  private static void addAll(Path kubeconfig, List<String> found) throws IOException {
    var content =
        Serialization.unmarshal(
            BoundedText.read(kubeconfig), io.fabric8.kubernetes.api.model.Config.class);
    List<String> named = new ArrayList<>();
    for (var entry : content.getClusters()) {
      Cluster cluster = entry.getCluster();
      found.addAll(nonEmpty(cluster.getCertificateAuthorityData()));
      named.addAll(nonEmpty(cluster.getCertificateAuthority()));
    }
    for (var entry : content.getUsers()) {
      AuthInfo user = entry.getUser();
      found.addAll(nonEmpty(user.getClientCertificateData()));
      named.addAll(nonEmpty(user.getClientCertificate()));
    }
    for (String name : named) {
      found.add(BoundedText.read(kubeconfig.resolveSibling(name)));
    }
  }

  private static List<String> nonEmpty(@Nullable String... values) {
    List<String> found = new ArrayList<>();
    for (String value : values) {
      if (value != null && !value.isEmpty()) {
        found.add(value);
      }
    }
    return found;
  }
}
