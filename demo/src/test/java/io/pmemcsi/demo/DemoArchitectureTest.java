package io.pmemcsi.demo;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/**
 * Keeps the demo apart from what ships: {@code ArchitectureTest} of the program does not see it.
 */
@AnalyzeClasses(packages = "io.pmemcsi", importOptions = ImportOption.DoNotIncludeTests.class)
class DemoArchitectureTest {

  private static final String DEMO = "io.pmemcsi.demo..";

  @ArchTest
  static final ArchRule NOTHING_THAT_SHIPS_KNOWS_THE_DEMO =
      noClasses()
          .that()
          .resideOutsideOfPackage(DEMO)
          .should()
          .dependOnClassesThat()
          .resideInAPackage(DEMO);

  /** It starts the programs by their entrances, and uses the driver through CSI. */
  @ArchTest
  static final ArchRule THE_DEMO_KNOWS_ENTRANCES_ONLY =
      noClasses()
          .that()
          .resideInAPackage(DEMO)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.pmemcsi.testbed..",
              "io.pmemcsi.controller..",
              "io.pmemcsi.operator.apply..",
              "io.pmemcsi.operator.controller..",
              "io.pmemcsi.operator.kinds..",
              "io.pmemcsi.operator.pmemdriver..",
              "io.pmemcsi.operator.rollout..",
              "io.pmemcsi.driver.linux..",
              "io.pmemcsi.driver.node..",
              "io.pmemcsi.driver.registry..",
              "io.pmemcsi.driver.volume..");
}
