package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.objects.Rbac;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Accounts and their permissions: the sidecars that talk to the API server all run in the
 * controller pod, so only its account gets permissions. The pods on the nodes run under an account
 * without any.
 *
 * @param ownNodeAccount the one that the user's template for nodes names
 * @param ownControllerAccount the one that the user's template for the controller names
 */
record Accounts(
    TemplateDriver driver, Optional<String> ownNodeAccount, Optional<String> ownControllerAccount) {

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
      objects.add(Rbac.account(driver.namespaced(nodes)));
    }
    if (driver.settings().controllerTemplate().isPresent()) {
      String controller = ownControllerAccount.orElse(controllerAccount(driver));
      if (ownControllerAccount.isEmpty()) {
        objects.add(Rbac.account(driver.namespaced(controller)));
      }
      if (!accounts.contains(controller)) {
        accounts.add(controller);
      }
      addPermissions(controller, objects);
    }
    if (driver.facts().serves(ServedApi.OPENSHIFT_SECURITY)) {
      objects.add(
          Rbac.bindingToClusterRole(
              driver.namespaced(driver.name() + "-privileged"), OPENSHIFT_PRIVILEGED, accounts));
    }
    return objects;
  }

  private void addPermissions(String account, List<HasMetadata> objects) {
    var permissions = new SidecarRbac(driver);
    if (!permissions.isNeeded()) {
      return;
    }
    String wide = "csidriverdeployment:%s:%s".formatted(driver.namespace(), driver.name());
    Optional<String> given = driver.config().clusterRoleName();
    if (given.isEmpty()) {
      objects.add(Rbac.clusterRole(driver.clusterWide(wide), permissions.inCluster()));
    }
    objects.add(
        Rbac.clusterBinding(
            driver.clusterWide(wide), given.orElse(wide), driver.namespace(), account));
    String local = "leader-election-" + driver.name();
    Optional<String> givenLocal = driver.config().leaderElectionClusterRoleName();
    if (givenLocal.isPresent()) {
      objects.add(
          Rbac.bindingToClusterRole(driver.namespaced(local), givenLocal.get(), List.of(account)));
    } else {
      objects.add(Rbac.role(driver.namespaced(local), permissions.inNamespace()));
      objects.add(Rbac.binding(driver.namespaced(local), local, List.of(account)));
    }
  }
}
