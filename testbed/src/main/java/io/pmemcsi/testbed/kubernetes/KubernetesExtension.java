package io.pmemcsi.testbed.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Makes {@link WithKubernetes} work. */
final class KubernetesExtension
    implements BeforeAllCallback, BeforeEachCallback, ParameterResolver {

  private static final Namespace STORE = Namespace.create(KubernetesExtension.class);

  @Override
  public void beforeAll(ExtensionContext context) {
    prepare(context);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    prepare(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == Sandbox.class || type == KubernetesClient.class || type == Cluster.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    if (type == Cluster.class) {
      return cluster(context);
    }
    Sandbox sandbox = sandbox(context);
    return type == Sandbox.class ? sandbox : sandbox.client();
  }

  private static void prepare(ExtensionContext context) {
    Cluster cluster = cluster(context);
    if (annotation(context).map(WithKubernetes::controllers).orElse(true)) {
      try {
        cluster.startControllers();
      } catch (Binaries.MissingProgramException e) {
        Assumptions.abort(String.valueOf(e.getMessage()));
      }
    }
  }

  /** JUnit closes it when the last test of the JVM is done. */
  private static Cluster cluster(ExtensionContext context) {
    return context
        .getStore(StoreScope.LAUNCHER_SESSION, STORE)
        .computeIfAbsent(Cluster.class, _ -> Cluster.open(), Cluster.class);
  }

  /** JUnit closes it when the test, or the class, to which it belongs is done. */
  private static Sandbox sandbox(ExtensionContext context) {
    ExtensionContext owner = owner(context);
    // the key has the owner's id, since a store also finds what the stores around it hold
    return owner
        .getStore(STORE)
        .computeIfAbsent(
            owner.getUniqueId(), _ -> cluster(context).newSandbox(hint(owner)), Sandbox.class);
  }

  private static ExtensionContext owner(ExtensionContext context) {
    boolean perClass = annotation(context).map(WithKubernetes::perClass).orElse(false);
    Optional<ExtensionContext> parent = context.getParent();
    return perClass && context.getTestMethod().isPresent() && parent.isPresent()
        ? classContext(parent.get())
        : context;
  }

  /** Parameterized tests have a context for the invocation and one for the method. */
  private static ExtensionContext classContext(ExtensionContext context) {
    return context.getTestMethod().isPresent()
        ? context.getParent().map(KubernetesExtension::classContext).orElse(context)
        : context;
  }

  private static String hint(ExtensionContext owner) {
    String type = owner.getTestClass().map(Class::getSimpleName).orElse("test");
    return owner.getTestMethod().map(method -> type + "-" + method.getName()).orElse(type);
  }

  private static Optional<WithKubernetes> annotation(ExtensionContext context) {
    return AnnotationSupport.findAnnotation(context.getElement(), WithKubernetes.class)
        .or(
            () ->
                context
                    .getTestClass()
                    .flatMap(
                        type ->
                            AnnotationSupport.findAnnotation(
                                type, WithKubernetes.class, context.getEnclosingTestClasses())));
  }
}
