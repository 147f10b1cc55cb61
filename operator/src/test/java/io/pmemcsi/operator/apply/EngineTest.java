package io.pmemcsi.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSetSpecBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EngineTest {

  private static final Owner OWNER = new Owner("example.com/v1", "Thing", "ns", "a", "uid-a");
  private static final Owner OTHER = new Owner("example.com/v1", "Thing", "ns", "b", "uid-b");

  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private Instant now = Instant.parse("2030-01-01T00:00:00Z");
  private final InstantSource clock = () -> now;
  private final Engine engine =
      new Engine(
          new OwnershipLabels("example.com"),
          "me",
          LabelRetention.KEEP,
          serialization,
          clock.withZone(ZoneOffset.UTC));
  private final InMemoryCluster cluster = new InMemoryCluster();

  @Test
  void missingObjectsAreCreatedInOrderWithOwnershipLabels() {
    Outcome outcome = apply(OWNER, map("one", "1"), map("two", "2"));

    assertThat(outcome.applied()).extracting(ObjectRef::name).containsExactly("one", "two");
    HasMetadata one = cluster.object("one");
    assertThat(one.getMetadata().getOwnerReferences()).hasSize(1);
    assertThat(one.getMetadata().getLabels()).containsEntry("example.com/owner-uid", "uid-a");
    assertThat(one.getMetadata().getAnnotations()).containsEntry("example.com/owner", "Thing/ns/a");
  }

  @Test
  void nothingIsWrittenWhenNothingDiffers() {
    apply(OWNER, map("one", "1"));
    cluster.calls.clear();

    Outcome outcome = apply(OWNER, map("one", "1"));

    assertThat(outcome.changedSomething()).isFalse();
    assertThat(cluster.calls).isEmpty();
  }

  @Test
  void nothingIsWrittenIfOneObjectIsNotOwned() {
    cluster.objects.put("two", map("two", "other"));

    Outcome outcome = apply(OWNER, map("one", "1"), map("two", "2"));

    assertThat(outcome.conflicts()).extracting(ObjectRef::name).containsExactly("two");
    assertThat(cluster.calls).isEmpty();
  }

  @Test
  void objectsOfAnotherOwnerAreNotOwned() {
    apply(OTHER, map("one", "1"));

    assertThat(apply(OWNER, map("one", "1")).conflicts()).hasSize(1);
  }

  @Test
  void objectThatAppearsDuringTheApplyIsAConflict() {
    cluster.appearing = Optional.of("two");

    Outcome outcome = apply(OWNER, map("one", "1"), map("two", "2"));

    assertThat(outcome.applied()).extracting(ObjectRef::name).containsExactly("one");
    assertThat(outcome.conflicts()).extracting(ObjectRef::name).containsExactly("two");
  }

  @Test
  void objectsThatAreNoLongerDesiredArePruned() {
    apply(OTHER, map("other", "1"));
    apply(OWNER, map("one", "1"), map("two", "2"));

    Outcome outcome = apply(OWNER, map("two", "2"));

    assertThat(outcome.pruned()).extracting(ObjectRef::name).containsExactly("one");
    assertThat(cluster.objects).containsOnlyKeys("other", "two");
  }

  @Test
  void objectOutsideTheNamespaceIsOwnedByLabelAlone() {
    ConfigMap elsewhere = map("one", "1");
    elsewhere.getMetadata().setNamespace("elsewhere");

    apply(OWNER, elsewhere);
    Outcome outcome = apply(OWNER);

    assertThat(outcome.pruned()).hasSize(1);
  }

  @Test
  void objectWithAChangedImmutableFieldIsRecreated() {
    apply(OWNER, map("one", "1"));
    cluster.immutable = true;

    Outcome outcome = apply(OWNER, map("one", "2"));

    assertThat(outcome.recreated()).hasSize(1);
    assertThat(cluster.calls).endsWith("delete one", "create one", "claim one");
  }

  @Test
  void terminatingObjectIsPending() {
    apply(OWNER, map("one", "1"));
    cluster.object("one").getMetadata().setDeletionTimestamp("2030-01-01T00:00:00Z");
    cluster.calls.clear();

    Outcome outcome = apply(OWNER, map("one", "2"));

    assertThat(outcome.pending()).hasSize(1);
    assertThat(outcome.complete()).isFalse();
    assertThat(cluster.calls).isEmpty();
  }

  @Test
  void legacyObjectsArePrunedOnlyIfOwned() {
    ConfigMap owned = map("old", "1");
    owned.getMetadata().setOwnerReferences(List.of(OWNER.reference()));
    cluster.objects.put("old", owned);
    cluster.objects.put("not-owned", map("not-owned", "1"));

    Outcome outcome =
        engine.apply(
            OWNER,
            new DesiredState(List.of(), List.of(map("old", ""), map("not-owned", ""))),
            cluster);

    assertThat(outcome.pruned()).extracting(ObjectRef::name).containsExactly("old");
    assertThat(cluster.objects).containsOnlyKeys("not-owned");
  }

  /** Its annotation has the same owner name, but the object may have been kept on purpose. */
  @Test
  void objectOfAnEarlierResourceWithTheSameNameIsNotOwned() {
    apply(new Owner("example.com/v1", "Thing", "ns", "a", "uid-before"), map("one", "1"));
    cluster.calls.clear();

    assertThat(apply(OWNER, map("one", "1")).conflicts()).hasSize(1);
    engine.remove(OWNER, cluster);

    assertThat(cluster.calls).isEmpty();
  }

  @Test
  void nothingIsWrittenWhenTheServerWouldRefuseOneObject() {
    cluster.refused = Optional.of("two");

    assertThatThrownBy(
            () ->
                engine.apply(
                    OWNER,
                    DesiredState.of(List.of(map("one", "1"), map("two", "2"))),
                    object -> object.getMetadata().getName().equals("two"),
                    cluster))
        .isInstanceOf(RefusedObjectException.class)
        .hasMessageContaining("ConfigMap \"two\"")
        .hasMessageContaining("port is taken");
    assertThat(cluster.calls).containsExactly("dry-run two");
  }

  @Test
  void fieldsAreClaimedAfterAllObjectsAreCreated() {
    apply(OWNER, map("one", "1"), map("two", "2"));

    assertThat(cluster.calls).containsExactly("create one", "create two", "claim one", "claim two");
  }

  @Test
  void removalDeletesAllObjectsOfTheOwner() {
    apply(OTHER, map("other", "1"));
    apply(OWNER, map("one", "1"));

    engine.remove(OWNER, cluster);

    assertThat(cluster.objects).containsOnlyKeys("other");
  }

  @Test
  void removalDeletesObjectsThatNoCacheHasYet() {
    apply(OTHER, map("other", "1"));
    apply(OWNER, map("one", "1"), map("two", "1"));
    cluster.uncached = Set.of("two", "other");
    cluster.calls.clear();

    assertThat(engine.remove(OWNER, cluster).complete()).isTrue();

    assertThat(cluster.calls).containsExactly("delete one", "delete two");
  }

  @Test
  void removalIsNotCompleteWhileAnObjectTerminates() {
    apply(OWNER, map("one", "1"), map("two", "1"));
    cluster.object("one").getMetadata().setDeletionTimestamp("2030-01-01T00:00:00Z");
    cluster.calls.clear();

    Outcome outcome = engine.remove(OWNER, cluster);

    assertThat(outcome.pending()).extracting(ObjectRef::name).containsExactly("one");
    assertThat(outcome.complete()).isFalse();
    assertThat(cluster.calls).containsExactly("delete two");
  }

  @Test
  void objectsAreWrittenInTheOrderOfTheirStagesAndRemovedInReverse() {
    apply(OWNER, webhook("hook"), daemonSet("pods"), binding("binding"), map("account", "1"));
    engine.remove(OWNER, cluster);

    assertThat(cluster.calls)
        .filteredOn(call -> !call.startsWith("claim"))
        .containsExactly(
            "create account",
            "create binding",
            "create pods",
            "create hook",
            "delete hook",
            "delete pods",
            "delete binding",
            "delete account");
  }

  @Test
  void removalKeepsAccountsAndBindingsUntilPodsAreDeleted() {
    apply(OWNER, map("account", "1"), binding("binding"), daemonSet("pods"));
    cluster.withPods = Set.of("pods");

    for (int reconciliation = 0; reconciliation < 2; reconciliation++) {
      Outcome outcome = engine.remove(OWNER, cluster);
      assertThat(outcome.complete()).isFalse();
      assertThat(outcome.pending()).extracting(ObjectRef::name).containsExactly("pods");
      assertThat(cluster.objects).containsKeys("account", "binding", "pods");
    }
    cluster.objects.remove("pods");

    assertThat(engine.remove(OWNER, cluster).complete()).isTrue();
    assertThat(cluster.objects).isEmpty();
  }

  @Test
  void removalDoesNotWaitForPodsAfterTheirGracePeriod() {
    DaemonSet daemonSet = daemonSet("pods");
    daemonSet.setSpec(
        new DaemonSetSpecBuilder()
            .withNewTemplate()
            .withNewSpec()
            .withTerminationGracePeriodSeconds(100L)
            .endSpec()
            .endTemplate()
            .build());
    apply(OWNER, map("account", "1"), daemonSet);
    cluster.withPods = Set.of("pods");
    engine.remove(OWNER, cluster);

    now = now.plusSeconds(120);
    assertThat(engine.remove(OWNER, cluster).complete()).isFalse();
    now = now.plusSeconds(20);

    assertThat(engine.remove(OWNER, cluster).complete()).isTrue();
    assertThat(cluster.objects).containsOnlyKeys("pods");
  }

  @Test
  void workloadWithAChangedImmutableFieldDoesNotWaitForItsPods() {
    apply(OWNER, daemonSet("pods"));
    cluster.immutable = true;
    cluster.withPods = Set.of("pods");
    DaemonSet changed = daemonSet("pods");
    changed.getMetadata().setAnnotations(Map.of("changed", "yes"));

    assertThat(apply(OWNER, changed).recreated()).hasSize(1);
  }

  @Test
  void onlyOwnedObjectsAreReleased() {
    apply(OWNER, map("one", "1"));
    cluster.objects.put("other", map("other", "1"));
    cluster.calls.clear();

    engine.release(OWNER, cluster);

    assertThat(cluster.calls).containsExactly("release one");
  }

  @Test
  void objectsThatNoCacheHasYetAreReleasedToo() {
    apply(OWNER, map("one", "1"), map("two", "1"));
    cluster.uncached = Set.of("two");
    cluster.calls.clear();

    engine.release(OWNER, cluster);

    assertThat(cluster.calls).containsExactly("release one", "release two");
  }

  @Test
  void objectCannotBeDesiredTwice() {
    assertThatThrownBy(() -> DesiredState.of(List.of(map("one", "1"), map("one", "2"))))
        .hasMessageContaining("is desired twice");
  }

  private Outcome apply(Owner owner, HasMetadata... desired) {
    return engine.apply(owner, DesiredState.of(List.of(desired)), cluster);
  }

  @Test
  void objectInBackoffIsNotCreated() {
    cluster.backingOff = Set.of("one");

    Outcome outcome = apply(OWNER, map("one", "1"), map("two", "2"));
    engine.restore(OWNER, map("one", "1"), cluster);

    assertThat(cluster.calls).containsExactly("create two", "claim two");
    assertThat(outcome.applied()).hasSize(1);
  }

  /** Otherwise each reconciliation would issue a new CA and write it to the webhook. */
  @Test
  void nothingIsWrittenAfterASecretInBackoff() {
    cluster.backingOff = Set.of("secret");
    var secret =
        new SecretBuilder()
            .withNewMetadata()
            .withName("secret")
            .withNamespace("ns")
            .endMetadata()
            .build();

    engine.apply(
        OWNER, DesiredState.of(List.of(map("one", "1"), secret, map("two", "2"))), cluster);

    assertThat(cluster.calls).containsExactly("create one", "claim one");
  }

  @Test
  void onlyMissingObjectsAreRestored() {
    apply(OWNER, map("one", "1"), map("two", "2"));
    cluster.objects.remove("one");
    cluster.calls.clear();

    engine.restore(OWNER, map("one", "again"), cluster);
    engine.restore(OWNER, map("two", "changed"), cluster);

    assertThat(cluster.calls).containsExactly("create one", "claim one");
  }

  @Test
  void objectThatIsNotOwnedIsNotRestored() {
    cluster.objects.put("one", map("one", "of another owner"));

    Outcome outcome = engine.restore(OWNER, map("one", "1"), cluster);

    assertThat(outcome.conflicts()).hasSize(1);
    assertThat(cluster.calls).isEmpty();
  }

  private static DaemonSet daemonSet(String name) {
    return new DaemonSetBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("ns")
        .endMetadata()
        .build();
  }

  private static RoleBinding binding(String name) {
    return new RoleBindingBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("ns")
        .endMetadata()
        .build();
  }

  private static MutatingWebhookConfiguration webhook(String name) {
    return new MutatingWebhookConfigurationBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .build();
  }

  private static ConfigMap map(String name, String value) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("ns")
        .endMetadata()
        .withData(Map.of("value", value))
        .build();
  }

  /** Objects in memory, compared as a whole. */
  private final class InMemoryCluster implements Cluster {
    private final Map<String, HasMetadata> objects = new LinkedHashMap<>();
    private final List<String> calls = new ArrayList<>();
    private Optional<String> appearing = Optional.empty();
    private Optional<String> refused = Optional.empty();
    private Set<String> uncached = Set.of();
    private Set<String> backingOff = Set.of();
    private Set<String> withPods = Set.of();
    private boolean immutable;

    HasMetadata object(String name) {
      return Optional.ofNullable(objects.get(name)).orElseThrow();
    }

    @Override
    public Optional<HasMetadata> find(HasMetadata desired) {
      return Optional.ofNullable(objects.get(desired.getMetadata().getName()));
    }

    @Override
    public List<HasMetadata> ownedBy(Owner owner) {
      return objects.values().stream()
          .filter(object -> !uncached.contains(object.getMetadata().getName()))
          .toList();
    }

    @Override
    public List<HasMetadata> notGarbageCollected(Owner owner) {
      return List.copyOf(objects.values());
    }

    @Override
    public List<HasMetadata> garbageCollected(Owner owner) {
      return List.copyOf(objects.values());
    }

    @Override
    public boolean matches(HasMetadata actual, HasMetadata desired) {
      return actual.equals(desired);
    }

    @Override
    public boolean inBackoff(HasMetadata desired) {
      return backingOff.contains(desired.getMetadata().getName());
    }

    @Override
    public HasMetadata create(HasMetadata desired) {
      String name = desired.getMetadata().getName();
      if (appearing.filter(name::equals).isPresent()) {
        throw new NotOwnedException(ObjectRef.of(desired));
      }
      calls.add("create " + name);
      objects.put(name, desired);
      return desired;
    }

    @Override
    public void claimFields(HasMetadata created, HasMetadata desired) {
      calls.add("claim " + created.getMetadata().getName());
    }

    @Override
    public void dryRun(HasMetadata desired) {
      String name = desired.getMetadata().getName();
      calls.add("dry-run " + name);
      if (refused.filter(name::equals).isPresent()) {
        throw new RefusedObjectException(desired, new KubernetesClientException("port is taken"));
      }
    }

    @Override
    public void apply(HasMetadata actual, HasMetadata desired) {
      if (immutable) {
        throw new ImmutableFieldException(
            ObjectRef.of(desired), new IllegalStateException("field is immutable"));
      }
      calls.add("apply " + desired.getMetadata().getName());
      objects.put(desired.getMetadata().getName(), desired);
    }

    @Override
    public boolean delete(HasMetadata actual, DeletionPropagation propagation) {
      String name = actual.getMetadata().getName();
      calls.add("delete " + name);
      if (propagation == DeletionPropagation.FOREGROUND && withPods.contains(name)) {
        actual.getMetadata().setDeletionTimestamp(now.toString());
        actual.getMetadata().setFinalizers(List.of("foregroundDeletion"));
        return false;
      }
      objects.remove(name);
      return true;
    }

    @Override
    public void release(HasMetadata actual, Owner owner) {
      calls.add("release " + actual.getMetadata().getName());
    }
  }
}
