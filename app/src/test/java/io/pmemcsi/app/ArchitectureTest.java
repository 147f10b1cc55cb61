package io.pmemcsi.app;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.GeneralCodingRules.USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import org.jspecify.annotations.NullMarked;

/** Keeps the dependencies between the parts as docs/architecture.md draws them. */
@AnalyzeClasses(
    packages = {"io.pmemcsi", "csi.v1", "registry.v0"},
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  private static final String PROTOCOL = "csi.v1..";
  private static final String REGISTRY = "registry.v0..";

  @ArchTest
  static final ArchRule BASE_DEPENDS_ON_NO_OTHER_MODULE =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.base..")
          .should()
          .dependOnClassesThat(projectClasses().and(outside("io.pmemcsi.base")));

  @ArchTest
  static final ArchRule API_KNOWS_ONLY_BASE =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.api..")
          .should()
          .dependOnClassesThat(
              projectClasses().and(outside("io.pmemcsi.api")).and(outside("io.pmemcsi.base")));

  @ArchTest
  static final ArchRule CSI_DEPENDS_ON_NO_OTHER_MODULE =
      noClasses()
          .that()
          .resideInAnyPackage(PROTOCOL, REGISTRY)
          .should()
          .dependOnClassesThat(projectClasses().and(outside("csi.v1")));

  @ArchTest
  static final ArchRule EMBEDDED_DEPENDS_ON_NO_OTHER_MODULE =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.embedded..")
          .should()
          .dependOnClassesThat(projectClasses().and(outside("io.pmemcsi.embedded")));

  @ArchTest
  static final ArchRule OPERATOR_KNOWS_ONLY_API_AND_BASE =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.operator..")
          .should()
          .dependOnClassesThat(
              projectClasses()
                  .and(outside("io.pmemcsi.operator"))
                  .and(outside("io.pmemcsi.api"))
                  .and(outside("io.pmemcsi.base")));

  @ArchTest
  static final ArchRule CONTROLLER_KNOWS_ONLY_BASE =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.controller..")
          .should()
          .dependOnClassesThat(
              projectClasses()
                  .and(outside("io.pmemcsi.controller"))
                  .and(outside("io.pmemcsi.base")));

  @ArchTest
  static final ArchRule SCHEDULING_DECISIONS_ARE_PURE =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.controller.volume..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.fabric8.kubernetes.client..", "java.net..", "java.nio..");

  /** Every answer to the scheduler comes from memory. */
  @ArchTest
  static final ArchRule THE_FILTER_PATH_CALLS_NO_API =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.controller.extender..")
          .or()
          .haveNameMatching(
              "io\\.pmemcsi\\.controller\\.capacity\\."
                  + "(NodeCapacities|NodeState|Space|Demand|Reservations|FreeCapacity)(\\$.*)?")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.fabric8..",
              "io.pmemcsi.controller.cluster..",
              "io.pmemcsi.controller.watch..",
              "java.net..");

  @ArchTest
  static final ArchRule DRIVER_KNOWS_ONLY_THE_PROTOCOL_AND_BASE =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.driver..")
          .should()
          .dependOnClassesThat(
              projectClasses()
                  .and(outside("io.pmemcsi.driver"))
                  .and(outside("csi.v1"))
                  .and(outside("io.pmemcsi.base")));

  @ArchTest
  static final ArchRule THE_PROGRAM_DOES_NOT_KNOW_PROTOCOL_API_AND_EMBEDDED_API =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.app..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(PROTOCOL, "io.pmemcsi.api..", "io.pmemcsi.embedded..");

  @ArchTest
  static final ArchRule NOTHING_THAT_SHIPS_KNOWS_THE_TEST_BEDS =
      noClasses()
          .that(projectClasses().and(outside("io.pmemcsi.testbed")))
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.pmemcsi.testbed..");

  @ArchTest
  static final ArchRule APPLY_KNOWS_NO_KIND =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.operator.apply..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.pmemcsi.operator.kinds..", "io.pmemcsi.api..");

  @ArchTest
  static final ArchRule THE_SKELETON_KNOWS_NO_KIND =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.operator.controller..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.pmemcsi.operator.kinds..",
              "io.pmemcsi.operator.pmemdriver..",
              "io.pmemcsi.operator.rollout..",
              "io.pmemcsi.api.legacy..",
              "io.pmemcsi.api.pmem..",
              "io.pmemcsi.api.template..");

  @ArchTest
  static final ArchRule KINDS_DO_NOT_KNOW_EACH_OTHER =
      slices().matching("io.pmemcsi.operator.kinds.(*)..").should().notDependOnEachOther();

  @ArchTest
  static final ArchRule OPERATOR_PACKAGES_POINT_DOWNWARDS =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("entrances")
          .definedBy("io.pmemcsi.operator.runtime..", "io.pmemcsi.operator.tools..")
          .layer("kinds")
          .definedBy("io.pmemcsi.operator.kinds..")
          .layer("driver model")
          .definedBy("io.pmemcsi.operator.pmemdriver..")
          .layer("skeleton")
          .definedBy("io.pmemcsi.operator.controller..", "io.pmemcsi.operator.rollout..")
          .layer("cluster")
          .definedBy(
              "io.pmemcsi.operator.apply..",
              "io.pmemcsi.operator.objects..",
              "io.pmemcsi.operator.certs..",
              "io.pmemcsi.operator.deletion..",
              "io.pmemcsi.operator.metrics..",
              "io.pmemcsi.operator.usage..")
          .layer("facts")
          .definedBy("io.pmemcsi.operator.facts..", "io.pmemcsi.operator.yaml..")
          .whereLayer("entrances")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("kinds")
          .mayOnlyBeAccessedByLayers("entrances")
          .whereLayer("driver model")
          .mayOnlyBeAccessedByLayers("kinds")
          .whereLayer("skeleton")
          .mayOnlyBeAccessedByLayers("entrances", "kinds", "driver model")
          .whereLayer("cluster")
          .mayOnlyBeAccessedByLayers("entrances", "kinds", "driver model", "skeleton");

  @ArchTest
  static final ArchRule OPERATOR_PACKAGES_HAVE_NO_CYCLES =
      slices().matching("io.pmemcsi.operator.(*)..").should().beFreeOfCycles();

  /** Decisions, and the mapping of their results to a status, get values and return values. */
  @ArchTest
  static final ArchRule DECISIONS_OF_THE_OPERATOR_TAKE_NO_CLIENT =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.operator..")
          .and()
          .haveNameMatching(
              ".*\\.(\\w*(Decision|Plan|Planner|DesiredState|Conflicts|ObservedStatus|StatusMapper"
                  + "|EventMessages)|Lifecycle|LostNodes|NodeSharing)(\\$.*)?")
          .should()
          .dependOnClassesThat()
          .haveNameMatching(
              ".*\\.(KubernetesClient|ClusterReader|ApiReader|CachedReader|Cluster|Engine)");

  @ArchTest
  static final ArchRule API_PACKAGES_POINT_DOWNWARDS =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("all kinds")
          .definedBy("io.pmemcsi.api.kinds..")
          .layer("one kind")
          .definedBy(
              "io.pmemcsi.api.pmem..", "io.pmemcsi.api.legacy..", "io.pmemcsi.api.template..")
          .layer("schema")
          .definedBy("io.pmemcsi.api.schema..")
          .layer("shared")
          .definedBy("io.pmemcsi.api")
          .whereLayer("all kinds")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("one kind")
          .mayOnlyBeAccessedByLayers("all kinds")
          .whereLayer("schema")
          .mayOnlyBeAccessedByLayers("all kinds", "one kind");

  @ArchTest
  static final ArchRule CONTROLLER_PACKAGES_POINT_DOWNWARDS =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("program")
          .definedBy("io.pmemcsi.controller")
          .layer("services")
          .definedBy(
              "io.pmemcsi.controller.extender..",
              "io.pmemcsi.controller.webhook..",
              "io.pmemcsi.controller.rescheduler..")
          .layer("cluster")
          .definedBy("io.pmemcsi.controller.cluster..")
          .layer("capacity")
          .definedBy("io.pmemcsi.controller.capacity..")
          .layer("values and helpers")
          .definedBy(
              "io.pmemcsi.controller.volume..",
              "io.pmemcsi.controller.watch..",
              "io.pmemcsi.controller.https..")
          .whereLayer("program")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("services")
          .mayOnlyBeAccessedByLayers("program")
          .whereLayer("cluster")
          .mayOnlyBeAccessedByLayers("program", "services")
          .whereLayer("capacity")
          .mayOnlyBeAccessedByLayers("program", "services", "cluster");

  @ArchTest
  static final ArchRule PROGRAM_PACKAGES_POINT_DOWNWARDS =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("main")
          .definedBy("io.pmemcsi.app")
          .layer("commands")
          .definedBy("io.pmemcsi.app.cli..")
          .layer("work of commands")
          .definedBy(
              "io.pmemcsi.app.convert..", "io.pmemcsi.app.render..", "io.pmemcsi.app.taint..")
          .layer("settings")
          .definedBy("io.pmemcsi.app.settings..")
          .whereLayer("main")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("commands")
          .mayOnlyBeAccessedByLayers("main")
          .whereLayer("work of commands")
          .mayOnlyBeAccessedByLayers("commands")
          .whereLayer("settings")
          .mayOnlyBeAccessedByLayers("commands", "work of commands");

  @ArchTest
  static final ArchRule EMBEDDED_PACKAGES_POINT_DOWNWARDS =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("program")
          .definedBy("io.pmemcsi.embedded")
          .layer("http")
          .definedBy("io.pmemcsi.embedded.http..")
          .layer("server")
          .definedBy("io.pmemcsi.embedded.server..")
          .layer("objects")
          .definedBy("io.pmemcsi.embedded.apply..", "io.pmemcsi.embedded.store..")
          .layer("values")
          .definedBy(
              "io.pmemcsi.embedded.fault..",
              "io.pmemcsi.embedded.json..",
              "io.pmemcsi.embedded.schema..")
          .whereLayer("program")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("http")
          .mayOnlyBeAccessedByLayers("program")
          .whereLayer("server")
          .mayOnlyBeAccessedByLayers("program", "http")
          .whereLayer("objects")
          .mayOnlyBeAccessedByLayers("program", "http", "server");

  @ArchTest
  static final ArchRule SETTINGS_ARE_PURE =
      noClasses()
          .that()
          .resideInAPackage("io.pmemcsi.app.settings..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "java.nio.channels..",
              "java.net.http..",
              "io.fabric8..",
              "io.grpc..",
              "picocli..",
              "org.slf4j..")
          .orShould()
          .dependOnClassesThat()
          .haveFullyQualifiedName("java.nio.file.Files");

  @ArchTest
  static final ArchRule MODULES_HAVE_NO_CYCLES =
      slices().matching("io.pmemcsi.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule PACKAGES_HAVE_NO_CYCLES =
      slices().assignedFrom(packages()).should().beFreeOfCycles();

  /** Except for the bridge that hands records of libraries to our log. */
  @ArchTest
  static final ArchRule ONE_WAY_OF_LOGGING =
      noClasses().that().doNotHaveSimpleName("JulBridge").should(USE_JAVA_UTIL_LOGGING);

  @ArchTest
  static final ArchRule EVERY_PACKAGE_SAYS_WHAT_IT_IS_FOR =
      classes().that(projectClasses().and(outside("csi.v1"))).should(liveInANullMarkedPackage());

  /** Every package by itself, the outermost one of a module included. */
  private static SliceAssignment packages() {
    return new SliceAssignment() {
      @Override
      public SliceIdentifier getIdentifierOf(JavaClass type) {
        return type.getPackageName().startsWith("io.pmemcsi")
            ? SliceIdentifier.of(type.getPackageName())
            : SliceIdentifier.ignore();
      }

      @Override
      public String getDescription() {
        return "packages";
      }
    };
  }

  private static DescribedPredicate<JavaClass> projectClasses() {
    return JavaClass.Predicates.resideInAnyPackage("io.pmemcsi..", PROTOCOL);
  }

  private static DescribedPredicate<JavaClass> outside(String root) {
    return JavaClass.Predicates.resideOutsideOfPackage(root + "..");
  }

  private static ArchCondition<JavaClass> liveInANullMarkedPackage() {
    return new ArchCondition<>("live in a package with package-info.java and @NullMarked") {
      @Override
      public void check(JavaClass item, ConditionEvents events) {
        JavaPackage home = item.getPackage();
        if (!home.isAnnotatedWith(NullMarked.class)) {
          events.add(
              SimpleConditionEvent.violated(
                  item, home.getName() + " has no package-info.java with @NullMarked"));
        }
      }
    };
  }
}
