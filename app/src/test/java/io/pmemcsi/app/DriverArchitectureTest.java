package io.pmemcsi.app;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Keeps the layers of the driver as docs/architecture.md describes them. */
@AnalyzeClasses(
    packages = "io.pmemcsi.driver",
    importOptions = ImportOption.DoNotIncludeTests.class)
class DriverArchitectureTest {
  private static final String DRIVER = "io.pmemcsi.driver";

  @ArchTest
  static final ArchRule LAYERS =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("wiring")
          .definedBy(DRIVER)
          .layer("csi")
          .definedBy(DRIVER + ".csi..")
          .layer("registry")
          .definedBy(DRIVER + ".registry..")
          .layer("metrics")
          .definedBy(DRIVER + ".metrics..")
          .layer("audit")
          .definedBy(DRIVER + ".audit..")
          .layer("health")
          .definedBy(DRIVER + ".health..")
          .layer("node")
          .definedBy(DRIVER + ".node..")
          .layer("operations")
          .definedBy(DRIVER + ".volume.operations..")
          .layer("store")
          .definedBy(DRIVER + ".volume.store..")
          .layer("volume")
          .definedBy(DRIVER + ".volume")
          .layer("device")
          .definedBy(DRIVER + ".device..")
          .layer("state")
          .definedBy(DRIVER + ".state..")
          .layer("linux")
          .definedBy(DRIVER + ".linux..")
          .layer("json")
          .definedBy(DRIVER + ".json..")
          .whereLayer("wiring")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("registry")
          .mayOnlyBeAccessedByLayers("wiring")
          .whereLayer("registry")
          .mayOnlyAccessLayers("csi", "device", "state", "linux", "json")
          .whereLayer("csi")
          .mayOnlyBeAccessedByLayers("wiring", "registry")
          .whereLayer("metrics")
          .mayOnlyBeAccessedByLayers("wiring")
          .whereLayer("audit")
          .mayOnlyBeAccessedByLayers("wiring", "metrics")
          .whereLayer("node")
          .mayOnlyBeAccessedByLayers("wiring", "csi", "audit")
          .whereLayer("health")
          .mayOnlyBeAccessedByLayers("wiring", "csi", "audit", "node")
          .whereLayer("health")
          .mayOnlyAccessLayers("device", "linux")
          .whereLayer("operations")
          .mayOnlyBeAccessedByLayers("wiring", "csi", "node")
          .whereLayer("store")
          .mayOnlyBeAccessedByLayers("wiring", "operations", "audit")
          .whereLayer("volume")
          .mayOnlyBeAccessedByLayers("wiring", "csi", "audit", "node", "operations", "store")
          .whereLayer("state")
          .mayNotAccessAnyLayer()
          .whereLayer("linux")
          .mayOnlyAccessLayers("json")
          .whereLayer("device")
          .mayOnlyAccessLayers("linux", "state", "json");

  @ArchTest
  static final ArchRule PACKAGES_HAVE_NO_CYCLES =
      slices().matching(DRIVER + ".(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule GRPC_AND_ITS_CODES_STAY_AT_THE_BORDER =
      noClasses()
          .that()
          .resideInAPackage(DRIVER + "..")
          .and()
          .resideOutsideOfPackages(DRIVER, DRIVER + ".csi..", DRIVER + ".registry..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.grpc..", "csi.v1..");

  /** Those that call the other side or answer it. */
  @ArchTest
  static final ArchRule STATUS_CODES_STAY_AT_THE_BORDER_OF_THE_REGISTRY =
      noClasses()
          .that()
          .resideInAPackage(DRIVER + ".registry..")
          .and()
          .haveNameNotMatching(
              ".*\\.(NodeRegistration|NodeStatus|TlsNodeClient|Responder|Failures)(\\$.*)?")
          .should()
          .dependOnClassesThat()
          .haveNameMatching("io\\.grpc\\.Status.*|.*\\.CsiStatusException");

  @ArchTest
  static final ArchRule ONLY_THE_TABLE_OF_MANAGERS_KNOWS_THE_MODES =
      noClasses()
          .that()
          .resideOutsideOfPackages(DRIVER, DRIVER + ".device..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              DRIVER + ".device.lvm..", DRIVER + ".device.direct..", DRIVER + ".device.file..");

  @ArchTest
  static final ArchRule THE_DRIVER_DOES_NOT_KNOW_KUBERNETES =
      noClasses()
          .that()
          .resideInAPackage(DRIVER + "..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.fabric8..", "io.javaoperatorsdk..");
}
