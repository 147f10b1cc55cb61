package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.legacy.LegacySettings;
import io.pmemcsi.operator.certs.PeerCheck;
import io.pmemcsi.operator.certs.TlsFiles;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class CentralCertificatesTest {

  private static final Instant START = Instant.parse("2030-01-01T00:00:00Z");

  private final LegacySettings settings =
      LegacySettings.of(
          new KubernetesSerialization()
              .unmarshal("metadata: {name: central}\nspec: {}", LegacyDeployment.class));
  private final PmemModel driver =
      new PmemModel(
          new PmemNames(settings.driver()),
          settings,
          new PmemModel.Sizing(
              Optional.empty(),
              new IntOrString(1),
              settings.controllerResources(),
              settings.nodeResources(),
              settings.controllerResources(),
              settings.nodeResources()),
          ClusterFacts.assumed(KubernetesVersion.parse("1.30"), "pmem", "example.com/image"));

  /** Pods get new files at different times, also those of a new CA. */
  @Test
  void peersWithOldAndNewFilesTrustEachOtherWhileCertificatesAndAuthoritiesAreReplaced() {
    Map<String, Secret> stored = Map.of();
    Set<String> certificates = new HashSet<>();
    Set<String> authorities = new HashSet<>();
    Instant now = START;
    while (now.isBefore(START.plus(Duration.ofDays(3 * 365)))) {
      PmemCertificates.Prepared prepared = prepare(stored, now);
      assertThat(prepared.failure()).isEmpty();
      Map<String, Secret> next =
          prepared.secrets().stream()
              .collect(Collectors.toMap(one -> one.getMetadata().getName(), Secret.class::cast));
      List<Map<String, Secret>> inUse = stored.isEmpty() ? List.of(next) : List.of(stored, next);
      for (Map<String, Secret> registry : inUse) {
        for (Map<String, Secret> node : inUse) {
          assertThat(PeerCheck.of(registryFiles(registry), nodeFiles(node), now).broken())
              .as("at %s", now)
              .isEmpty();
        }
      }
      certificates.add(registryFiles(next).certificate());
      authorities.add(registryFiles(next).authority().split("-----END", 2)[0]);
      stored = next;
      now = prepared.due().orElseThrow();
    }
    assertThat(certificates).hasSizeGreaterThan(3);
    assertThat(authorities).as("signing CAs").hasSizeGreaterThan(1);
  }

  private PmemCertificates.Prepared prepare(Map<String, Secret> stored, Instant now) {
    return new CentralCertificates(driver, settings.certificates(), now)
        .prepare(name -> Optional.ofNullable(stored.get(name)));
  }

  private TlsFiles registryFiles(Map<String, Secret> secrets) {
    return files(secrets, PmemNames::registrySecret);
  }

  private TlsFiles nodeFiles(Map<String, Secret> secrets) {
    return files(secrets, PmemNames::nodeSecret);
  }

  private TlsFiles files(Map<String, Secret> secrets, Function<PmemNames, String> secret) {
    String name = secret.apply(driver.names());
    return TlsFiles.of(name, Objects.requireNonNull(secrets.get(name)).getData());
  }
}
