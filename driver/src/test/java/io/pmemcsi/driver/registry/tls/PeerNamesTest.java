package io.pmemcsi.driver.registry.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.base.tls.PeerNames;
import io.pmemcsi.testbed.kubernetes.Certificates;
import org.junit.jupiter.api.Test;

class PeerNamesTest {

  private final Certificates authority = new Certificates("pmem-registry");

  @Test
  void dnsNamesTakePrecedenceOverTheCommonName() {
    assertThat(
            PeerNames.of(authority.issue("CN=pmem-registry", "pmem-node-controller").certificate()))
        .contains("pmem-node-controller")
        .doesNotContain("pmem-registry");
  }

  @Test
  void theCommonNameIsUsedWithoutDnsNames() {
    assertThat(PeerNames.of(authority.authority())).containsExactly("pmem-registry");
  }
}
