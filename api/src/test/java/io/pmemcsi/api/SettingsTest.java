package io.pmemcsi.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.legacy.Certificates;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.legacy.LegacyDeploymentSpec;
import io.pmemcsi.api.legacy.LegacySettings;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentSpec;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.api.pmem.TLSMaterial;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.NodeUpdateStrategy;
import io.pmemcsi.api.template.TemplateSettings;
import java.lang.reflect.RecordComponent;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class SettingsTest {

  private static final Pattern DEFAULT = Pattern.compile("Default: (.*)\\.$");

  @Test
  void aPmemDeploymentHasTheDocumentedDefaults() {
    PmemSettings settings = pmem("{}");

    assertThat(settings.driver().value()).isEqualTo("pmem-csi.intel.com");
    assertThat(settings.image()).isEmpty();
    assertThat(settings.pullPolicy()).isEqualTo(PullPolicy.IF_NOT_PRESENT);
    assertThat(settings.deviceMode()).isEqualTo(DeviceMode.LVM);
    assertThat(settings.logLevel()).isEqualTo(3);
    assertThat(settings.logFormat()).isEqualTo(LogFormat.TEXT);
    assertThat(settings.nodeSelector()).isEqualTo(Map.of("storage", "pmem"));
    assertThat(settings.pmemPercentage()).isEqualTo(100);
    assertThat(settings.labels()).isEmpty();
    assertThat(settings.kubeletDir()).isEqualTo("/var/lib/kubelet");
    assertThat(settings.hasController()).isFalse();
    assertThat(settings.mutatePods()).isEqualTo(MutatePods.TRY);
    assertThat(settings.schedulerNodePort()).isEmpty();
    assertThat(settings.controllerReplicas()).isEqualTo(1);
    assertThat(settings.maxUnavailable()).isEqualTo(new IntOrString(1));
    assertThat(settings.nodeDriverResources().getRequests())
        .isEqualTo(Map.of("cpu", new Quantity("100m"), "memory", new Quantity("250Mi")));
  }

  @Test
  void theDescriptionsOfFieldsNameTheDefaultsThatAreUsed() {
    PmemSettings pmem = pmem("{}");

    assertThat(described(PmemCSIDeploymentSpec.class))
        .containsAllEntriesOf(used(pmem))
        .containsEntry("mutatePods", pmem.mutatePods().text())
        .containsEntry("controllerReplicas", String.valueOf(pmem.controllerReplicas()))
        .containsEntry("maxUnavailable", String.valueOf(pmem.maxUnavailable().getIntVal()));
    assertThat(described(LegacyDeploymentSpec.class)).containsAllEntriesOf(used(legacy("{}")));
  }

  private static Map<String, String> used(SharedSettings settings) {
    return Map.of(
        "pullPolicy", settings.pullPolicy().text(),
        "deviceMode", settings.deviceMode().text(),
        "logLevel", String.valueOf(settings.logLevel()),
        "logFormat", settings.logFormat().text(),
        "nodeSelector", settings.nodeSelector().toString().replaceAll("[{}]", ""),
        "pmemPercentage", String.valueOf(settings.pmemPercentage()),
        "kubeletDir", settings.kubeletDir(),
        "deletionPolicy", DeletionPolicy.of(null).text());
  }

  /** What the descriptions of a spec's fields say about defaults. */
  private static Map<String, String> described(Class<? extends Record> spec) {
    Map<String, String> defaults = new HashMap<>();
    for (RecordComponent field : spec.getRecordComponents()) {
      JsonPropertyDescription description =
          field.getAccessor().getAnnotation(JsonPropertyDescription.class);
      Matcher matcher = DEFAULT.matcher(description == null ? "" : description.value());
      if (matcher.find()) {
        defaults.put(field.getName(), matcher.group(1));
      }
    }
    return defaults;
  }

  @Test
  void bothSpellingsOfAFieldCount() {
    PmemSettings settings =
        pmem("{imagePullPolicy: Never, registrarImage: r, controllReplicas: 3, nodeSelector: {}}");

    assertThat(settings.pullPolicy()).isEqualTo(PullPolicy.NEVER);
    assertThat(settings.nodeRegistrarImage()).contains("r");
    assertThat(settings.controllerReplicas()).isEqualTo(3);
    assertThat(settings.nodeSelector()).isEmpty();
  }

  @Test
  void resourcesOfThePodCountForContainersThatHaveNone() {
    PmemSettings settings =
        pmem(
            "{nodeResources: {limits: {cpu: 1}}, nodeRegistrarResources: {limits: {cpu: 2}},"
                + " kubeletDir: /data/kubelet/}");

    assertThat(settings.provisionerResources().getLimits()).containsEntry("cpu", new Quantity("1"));
    assertThat(settings.nodeRegistrarResources().getLimits())
        .containsEntry("cpu", new Quantity("2"));
    assertThat(settings.kubeletDir()).isEqualTo("/data/kubelet");
  }

  @Test
  void theControllerRunsWhereTlsMaterialIsNamed() {
    assertThat(pmem("{controllerTLSSecret: s}").tls()).isEqualTo(new TLSMaterial.NamedSecret("s"));
    assertThat(pmem("{caCert: YQ==, registryCert: Yg==, registryKey: Yw==}").tls())
        .isEqualTo(new TLSMaterial.Inline("YQ==", "Yg==", "Yw=="));
    assertThat(pmem("{controllerTLS: {managed: true, validityDays: 90}}").tls())
        .isInstanceOfSatisfying(
            TLSMaterial.Managed.class,
            managed -> {
              assertThat(managed.options().validityDaysOrDefault()).isEqualTo(90);
              assertThat(managed.options().renewBeforeDaysOrDefault()).isEqualTo(30);
            });
    assertThat(pmem("{controllerTLS: {managed: false}}").hasController()).isFalse();
  }

  @Test
  void aChoiceThatDoesNotExistIsNotGuessedAt() {
    assertThatThrownBy(() -> pmem("{deviceMode: tape}").deviceMode())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("\"tape\" is none of [lvm, direct, file]");
  }

  @Test
  void aLegacyDeploymentNamesItsDriverOrIsTheDriver() {
    assertThat(legacy("{}").driver().value()).isEqualTo("pmem-deployment");
    LegacySettings named = legacy("{driverName: pmem-csi.intel.com}");
    assertThat(named.driver().value()).isEqualTo("pmem-csi.intel.com");
    assertThat(named.name()).isEqualTo("pmem-deployment");
    for (ResourceRequirements resources :
        List.of(named.controllerResources(), named.nodeResources())) {
      assertThat(resources.getRequests()).isEqualTo(Map.of("cpu", new Quantity("100m")));
      assertThat(resources.getLimits()).isEqualTo(Map.of("memory", new Quantity("250Mi")));
    }
  }

  @Test
  void aLegacyDeploymentWithoutCertificatesGetsThemIssued() {
    assertThat(legacy("{registryKey: YQ==}").certificates())
        .isEqualTo(
            new Certificates.Issued(
                new Certificates.KeySource.Given("YQ=="), new Certificates.KeySource.New()));
    assertThat(
            legacy(
                    "{caCert: YQ==, registryCert: Yg==, registryKey: Yw==, nodeControllerCert:"
                        + " ZA==, nodeControllerKey: ZQ==}")
                .certificates())
        .isEqualTo(new Certificates.Given("YQ==", "Yg==", "Yw==", "ZA==", "ZQ=="));
  }

  @Test
  void aCsiDriverDeploymentHasTheDocumentedDefaults() {
    TemplateSettings settings = template("{driverName: d, driverSocket: /a/b}");

    assertThat(settings.nodeUpdateStrategy()).isEqualTo(NodeUpdateStrategy.ROLLING);
    assertThat(settings.controllerTemplate()).isEmpty();
    assertThat(settings.probePeriodSeconds()).isEmpty();
    assertThat(settings.probeTimeoutSeconds()).isEqualTo(30);
    assertThat(settings.storageClassTemplates()).isEmpty();
    assertThat(settings.hasProvisioner()).isTrue();
    assertThat(settings.hasAttacher()).isTrue();
    assertThat(settings.hasResizer()).isFalse();
    assertThat(settings.hasSnapshotter()).isFalse();
    assertThat(settings.replicas()).isEmpty();
  }

  @Test
  void aCopyOfATemplateCanBeChangedWithoutChangingTheResource() {
    TemplateSettings settings =
        template("{driverName: d, driverPerNodeTemplate: {spec: {containers: [{name: a}]}}}");

    settings.nodeTemplate().getSpec().getContainers().clear();

    assertThat(settings.nodeTemplate().getSpec().getContainers()).hasSize(1);
  }

  private static PmemSettings pmem(String spec) {
    return PmemSettings.of(read("pmem-csi.intel.com", spec, PmemCSIDeployment.class));
  }

  private static LegacySettings legacy(String spec) {
    return LegacySettings.of(read("pmem-deployment", spec, LegacyDeployment.class));
  }

  private static TemplateSettings template(String spec) {
    return TemplateSettings.of(read("d", spec, CSIDriverDeployment.class));
  }

  private static <T> T read(String name, String spec, Class<T> type) {
    return new KubernetesSerialization()
        .unmarshal("metadata: {name: %s}\nspec: %s\n".formatted(name, spec), type);
  }
}
