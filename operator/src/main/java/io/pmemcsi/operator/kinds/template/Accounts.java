package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Subject;
import io.fabric8.kubernetes.api.model.rbac.SubjectBuilder;
import io.pmemcsi.operator.facts.ServedApi;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Accounts and their rights, split by job: the sidecars that talk to the API server all run in the
 * controller pod, so only its account gets rights. The pods on the nodes run under an account of
 * their own that may do nothing.
 *
 * @param ownNodeAccount the one that the user's template for nodes names
 * @param ownControllerAccount the one that the user's template for the controller names
 */
record Accounts(
    TemplateDriver driver, Optional<String> ownNodeAccount, Optional<String> ownControllerAccount) {

  private static final String RBAC = "rbac.authorization.k8s.io";
  private static final String OPENSHIFT_PRIVILEGED = "system:openshift:scc:privileged";

  static String nodeAccount(TemplateDriver driver) {
    return driver.name() + "-node";
  }

  static String controllerAccount(TemplateDriver driver) {
    return driver.name();
  }

  List<HasMetadata> objects() {
    var objects = new ArrayList<HasMetadata>();
    String nodes = ownNodeAccount.orElse(nodeAccount(driver));
    var accounts = new ArrayList<>(List.of(nodes));
    if (ownNodeAccount.isEmpty()) {
      objects.add(account(nodes));
    }
    if (driver.settings().controllerTemplate().isPresent()) {
      String controller = ownControllerAccount.orElse(controllerAccount(driver));
      if (ownControllerAccount.isEmpty()) {
        objects.add(account(controller));
      }
      if (!accounts.contains(controller)) {
        accounts.add(controller);
      }
      addRights(controller, objects);
    }
    if (driver.facts().serves(ServedApi.OPENSHIFT_SECURITY)) {
      objects.add(
          binding(driver.name() + "-privileged", "ClusterRole", OPENSHIFT_PRIVILEGED, accounts));
    }
    return objects;
  }

  private void addRights(String account, List<HasMetadata> objects) {
    var rights = new SidecarRbac(driver);
    if (!rights.areNeeded()) {
      return;
    }
    String wide = "csidriverdeployment:%s:%s".formatted(driver.namespace(), driver.name());
    Optional<String> given = driver.config().clusterRoleName();
    if (given.isEmpty()) {
      objects.add(
          new ClusterRoleBuilder()
              .withMetadata(driver.clusterWide(wide))
              .withRules(rights.inCluster())
              .build());
    }
    objects.add(
        new ClusterRoleBindingBuilder()
            .withMetadata(driver.clusterWide(wide))
            .withNewRoleRef(RBAC, "ClusterRole", given.orElse(wide))
            .withSubjects(subject(account))
            .build());
    String local = "leader-election-" + driver.name();
    Optional<String> givenLocal = driver.config().leaderElectionClusterRoleName();
    if (givenLocal.isEmpty()) {
      objects.add(
          new RoleBuilder()
              .withMetadata(driver.namespaced(local))
              .withRules(rights.inNamespace())
              .build());
    }
    objects.add(
        binding(
            local,
            givenLocal.isEmpty() ? "Role" : "ClusterRole",
            givenLocal.orElse(local),
            List.of(account)));
  }

  private HasMetadata account(String name) {
    return new ServiceAccountBuilder().withMetadata(driver.namespaced(name)).build();
  }

  private RoleBinding binding(String name, String kind, String role, List<String> accounts) {
    return new RoleBindingBuilder()
        .withMetadata(driver.namespaced(name))
        .withNewRoleRef(RBAC, kind, role)
        .withSubjects(accounts.stream().map(this::subject).toList())
        .build();
  }

  private Subject subject(String account) {
    return new SubjectBuilder()
        .withKind("ServiceAccount")
        .withName(account)
        .withNamespace(driver.namespace())
        .build();
  }
}
