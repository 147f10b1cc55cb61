package io.pmemcsi.app.cli;

import io.fabric8.kubernetes.api.model.AuthInfo;
import io.fabric8.kubernetes.api.model.Cluster;
import io.fabric8.kubernetes.api.model.Config;
import io.fabric8.kubernetes.api.model.Context;
import io.fabric8.kubernetes.api.model.ExecConfig;
import io.fabric8.kubernetes.api.model.NamedAuthInfo;
import io.fabric8.kubernetes.api.model.NamedCluster;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.pmemcsi.base.error.UsageException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The way from the current context of a kubeconfig to a server and a user: where it ends early, a
 * client would take the cluster of the pod that it assumes to be in.
 */
final class KubeconfigContext {

  private final String label;

  private KubeconfigContext(String label) {
    this.label = label;
  }

  /**
   * Refuses a configuration that does not say which cluster is meant, or as whom.
   *
   * @param label what messages call it
   * @param path the directories of programs, as in the environment
   */
  static void requireUsable(String label, Config config, String path) {
    new KubeconfigContext(label).follow(config, path);
  }

  private void follow(Config config, String path) {
    Entries<NamedContext> contexts =
        entries("contexts", config.getContexts(), NamedContext::getName);
    Entries<NamedCluster> clusters =
        entries("clusters", config.getClusters(), NamedCluster::getName);
    Entries<NamedAuthInfo> users = entries("users", config.getUsers(), NamedAuthInfo::getName);
    String current = Objects.requireNonNullElse(config.getCurrentContext(), "");
    if (current.isEmpty()) {
      throw wrong("it has no current-context: choose one with kubectl config use-context");
    }
    Optional<Context> context =
        Optional.ofNullable(
            contexts
                .find(current)
                .orElseThrow(
                    () ->
                        wrong(
                            ("current-context \"%s\" is not among its contexts %s: choose one of"
                                    + " them")
                                .formatted(current, contexts)))
                .getContext());
    String cluster = context.map(Context::getCluster).orElse("");
    NamedCluster found =
        clusters
            .find(cluster)
            .orElseThrow(
                () ->
                    wrong(
                        ("the cluster \"%s\" of context \"%s\" is not among its clusters %s: name"
                                + " one of them")
                            .formatted(cluster, current, clusters)));
    if (Optional.ofNullable(found.getCluster()).map(Cluster::getServer).orElse("").isBlank()) {
      throw wrong(
          "cluster \"%s\" has no server: write an address like https://192.0.2.1:6443"
              .formatted(cluster));
    }
    String user = context.map(Context::getUser).orElse("");
    // with none the server is asked without a name, which some servers allow
    if (!user.isEmpty()) {
      requirePlugin(
          users
              .find(user)
              .orElseThrow(
                  () ->
                      wrong(
                          ("the user \"%s\" of context \"%s\" is not among its users %s: name one"
                                  + " of them")
                              .formatted(user, current, users))),
          path);
    }
  }

  private void requirePlugin(NamedAuthInfo user, String path) {
    Optional.ofNullable(user.getUser())
        .map(AuthInfo::getExec)
        .map(ExecConfig::getCommand)
        .filter(command -> !new CredentialPlugin(command).isThere(path))
        .ifPresent(
            command -> {
              throw wrong(
                  ("user \"%s\" has credentials from the program %s, which is not there: install"
                          + " it, or choose another user")
                      .formatted(user.getName(), command));
            });
  }

  private <T> Entries<T> entries(
      String name, @Nullable List<T> entries, Function<T, @Nullable String> key) {
    List<T> all = Optional.ofNullable(entries).orElse(List.of());
    if (all.stream().anyMatch(Objects::isNull)) {
      throw wrong("its list of %s has an empty entry: take it out".formatted(name));
    }
    return new Entries<>(all, key);
  }

  private UsageException wrong(String message) {
    return new UsageException("%s: %s".formatted(label, message));
  }

  private record Entries<T>(List<T> all, Function<T, @Nullable String> key) {

    Optional<T> find(String name) {
      return all.stream().filter(entry -> name.equals(key.apply(entry))).findFirst();
    }

    @Override
    public String toString() {
      return all.stream().map(key).toList().toString();
    }
  }
}
