package io.pmemcsi.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** Base of test classes with one operator for all tests. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SharedOperator {

  Sandbox sandbox;
  KubernetesClient client;
  InstalledOperator operator;

  @BeforeAll
  final void install(Sandbox given) {
    sandbox = given;
    client = given.client();
    operator = InstalledOperator.install(given).start();
  }
}
