package io.pmemcsi.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
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
  private final Engine engine = new Engine(new OwnershipLabels("example.com"), "me", serialization);
  private final Memory cluster = new Memory();

  @Test
  void missingObjectsAreCreatedInOrderAndMarked() {
    Outcome outcome = bring(OWNER, map("one", "1"), map("two", "2"));

    assertThat(outcome.applied()).extracting(ObjectRef::name).containsExactly("one", "two");
    HasMetadata one = cluster.object("one");
    assertThat(one.getMetadata().getOwnerReferences()).hasSize(1);
    assertThat(one.getMetadata().getLabels()).containsEntry("example.com/owner-uid", "uid-a");
    assertThat(one.getMetadata().getAnnotations()).containsEntry("example.com/owner", "Thing/ns/a");
  }

  @Test
  void nothingIsWrittenWhenNothingDiffers() {
    bring(OWNER, map("one", "1"));
    cluster.calls.clear();

    Outcome outcome = bring(OWNER, map("one", "1"));

    assertThat(outcome.unchanged()).hasSize(1);
    assertThat(outcome.changedSomething()).isFalse();
    assertThat(cluster.calls).isEmpty();
  }

  @Test
  void oneForeignObjectKeepsEverythingFromBeingWritten() {
    cluster.objects.put("two", map("two", "theirs"));

    Outcome outcome = bring(OWNER, map("one", "1"), map("two", "2"));

    assertThat(outcome.conflicts()).extracting(ObjectRef::name).containsExactly("two");
    assertThat(cluster.calls).isEmpty();
  }

  @Test
  void objectsOfAnotherOwnerAreForeign() {
    bring(OTHER, map("one", "1"));

    assertThat(bring(OWNER, map("one", "1")).conflicts()).hasSize(1);
  }

  @Test
  void foreignObjectThatAppearsMeanwhileIsAConflictToo() {
    cluster.appearing = Optional.of("two");

    Outcome outcome = bring(OWNER, map("one", "1"), map("two", "2"));

    assertThat(outcome.applied()).extracting(ObjectRef::name).containsExactly("one");
    assertThat(outcome.conflicts()).extracting(ObjectRef::name).containsExactly("two");
  }

  @Test
  void whatIsNoLongerWantedIsRemovedAndOthersAreNot() {
    bring(OTHER, map("theirs", "1"));
    bring(OWNER, map("one", "1"), map("two", "2"));

    Outcome outcome = bring(OWNER, map("two", "2"));

    assertThat(outcome.pruned()).extracting(ObjectRef::name).containsExactly("one");
    assertThat(cluster.objects).containsOnlyKeys("theirs", "two");
  }

  @Test
  void objectOutsideTheNamespaceIsOwnedByLabelAlone() {
    ConfigMap elsewhere = map("one", "1");
    elsewhere.getMetadata().setNamespace("elsewhere");

    bring(OWNER, elsewhere);
    Outcome outcome = bring(OWNER);

    assertThat(outcome.pruned()).hasSize(1);
  }

  @Test
  void whatCannotBeChangedIsMadeAnew() {
    bring(OWNER, map("one", "1"));
    cluster.immutable = true;

    Outcome outcome = bring(OWNER, map("one", "2"));

    assertThat(outcome.recreated()).hasSize(1);
    assertThat(cluster.calls).endsWith("delete one", "create one", "take over one");
  }

  @Test
  void objectOnItsWayOutIsWaitedFor() {
    bring(OWNER, map("one", "1"));
    cluster.object("one").getMetadata().setDeletionTimestamp("2030-01-01T00:00:00Z");
    cluster.calls.clear();

    Outcome outcome = bring(OWNER, map("one", "2"));

    assertThat(outcome.pending()).hasSize(1);
    assertThat(outcome.complete()).isFalse();
    assertThat(cluster.calls).isEmpty();
  }

  @Test
  void formerObjectsAreRemovedOnlyIfOwned() {
    ConfigMap owned = map("old", "1");
    owned.getMetadata().setOwnerReferences(List.of(OWNER.reference()));
    cluster.objects.put("old", owned);
    cluster.objects.put("foreign", map("foreign", "1"));

    Outcome outcome =
        engine.bring(
            OWNER,
            new DesiredState(List.of(), List.of(map("old", ""), map("foreign", ""))),
            cluster);

    assertThat(outcome.pruned()).extracting(ObjectRef::name).containsExactly("old");
    assertThat(cluster.objects).containsOnlyKeys("foreign");
  }

  /** Its annotation says the same as ours would, but it may have been left for somebody else. */
  @Test
  void objectOfAnEarlierResourceOfTheSameNameIsForeign() {
    bring(new Owner("example.com/v1", "Thing", "ns", "a", "uid-before"), map("one", "1"));
    cluster.calls.clear();

    assertThat(bring(OWNER, map("one", "1")).conflicts()).hasSize(1);
    engine.remove(OWNER, cluster);

    assertThat(cluster.calls).isEmpty();
  }

  @Test
  void nothingIsWrittenWhenTheServerWouldRefuseOneObject() {
    cluster.refused = Optional.of("two");

    assertThatThrownBy(
            () ->
                engine.bring(
                    OWNER,
                    DesiredState.of(List.of(map("one", "1"), map("two", "2"))),
                    object -> object.getMetadata().getName().equals("two"),
                    cluster))
        .isInstanceOf(RefusedObjectException.class)
        .hasMessageContaining("ConfigMap \"two\"")
        .hasMessageContaining("port is taken");
    assertThat(cluster.calls).containsExactly("rehearse two");
  }

  @Test
  void createdObjectsAreTakenOverWhenAllAreThere() {
    bring(OWNER, map("one", "1"), map("two", "2"));

    assertThat(cluster.calls)
        .containsExactly("create one", "create two", "take over one", "take over two");
  }

  @Test
  void removingTakesEverythingOfTheOwner() {
    bring(OTHER, map("theirs", "1"));
    bring(OWNER, map("one", "1"));

    engine.remove(OWNER, cluster);

    assertThat(cluster.objects).containsOnlyKeys("theirs");
  }

  @Test
  void removalTakesAlongWhatNoWatchHasShownYet() {
    bring(OTHER, map("theirs", "1"));
    bring(OWNER, map("one", "1"), map("two", "1"));
    cluster.unseen = Set.of("two", "theirs");
    cluster.calls.clear();

    assertThat(engine.remove(OWNER, cluster).complete()).isTrue();

    assertThat(cluster.calls).containsExactly("delete one", "delete two");
  }

  @Test
  void removalIsNotCompleteWhileAnObjectIsOnItsWayOut() {
    bring(OWNER, map("one", "1"), map("two", "1"));
    cluster.object("one").getMetadata().setDeletionTimestamp("2030-01-01T00:00:00Z");
    cluster.calls.clear();

    Outcome outcome = engine.remove(OWNER, cluster);

    assertThat(outcome.pending()).extracting(ObjectRef::name).containsExactly("one");
    assertThat(outcome.complete()).isFalse();
    assertThat(cluster.calls).containsExactly("delete two");
  }

  @Test
  void onlyOwnObjectsAreReleased() {
    bring(OWNER, map("one", "1"));
    cluster.objects.put("theirs", map("theirs", "1"));
    cluster.calls.clear();

    engine.release(OWNER, cluster);

    assertThat(cluster.calls).containsExactly("release one");
  }

  @Test
  void objectsThatNoWatchHasShownAreReleasedToo() {
    bring(OWNER, map("one", "1"), map("two", "1"));
    cluster.unseen = Set.of("two");
    cluster.calls.clear();

    engine.release(OWNER, cluster);

    assertThat(cluster.calls).containsExactly("release one", "release two");
  }

  @Test
  void oneObjectCannotBeWantedTwice() {
    assertThatThrownBy(() -> DesiredState.of(List.of(map("one", "1"), map("one", "2"))))
        .hasMessageContaining("is wanted twice");
  }

  private Outcome bring(Owner owner, HasMetadata... wanted) {
    return engine.bring(owner, DesiredState.of(List.of(wanted)), cluster);
  }

  @Test
  void whatSomebodyDeletesEachTimeIsLeftOutForAWhile() {
    cluster.resting = Set.of("one");

    Outcome outcome = bring(OWNER, map("one", "1"), map("two", "2"));
    engine.restore(OWNER, map("one", "1"), cluster);

    assertThat(cluster.calls).containsExactly("create two", "take over two");
    assertThat(outcome.applied()).hasSize(1);
  }

  /** A new authority would be issued at each look, and told to the webhook. */
  @Test
  void nothingIsMadeOfASecretThatSomebodyUndoesEachTime() {
    cluster.resting = Set.of("secret");
    var secret =
        new SecretBuilder()
            .withNewMetadata()
            .withName("secret")
            .withNamespace("ns")
            .endMetadata()
            .build();

    engine.bring(
        OWNER, DesiredState.of(List.of(map("one", "1"), secret, map("two", "2"))), cluster);

    assertThat(cluster.calls).containsExactly("create one", "take over one");
  }

  @Test
  void onlyWhatIsGoneIsRestored() {
    bring(OWNER, map("one", "1"), map("two", "2"));
    cluster.objects.remove("one");
    cluster.calls.clear();

    engine.restore(OWNER, map("one", "again"), cluster);
    engine.restore(OWNER, map("two", "changed"), cluster);

    assertThat(cluster.calls).containsExactly("create one", "take over one");
  }

  @Test
  void foreignObjectInPlaceOfWhatIsGoneStays() {
    cluster.objects.put("one", map("one", "of somebody else"));

    Outcome outcome = engine.restore(OWNER, map("one", "1"), cluster);

    assertThat(outcome.conflicts()).hasSize(1);
    assertThat(cluster.calls).isEmpty();
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
  private static final class Memory implements Cluster {
    private final Map<String, HasMetadata> objects = new LinkedHashMap<>();
    private final List<String> calls = new ArrayList<>();
    private Optional<String> appearing = Optional.empty();
    private Optional<String> refused = Optional.empty();
    private Set<String> unseen = Set.of();
    private Set<String> resting = Set.of();
    private boolean immutable;

    HasMetadata object(String name) {
      return Optional.ofNullable(objects.get(name)).orElseThrow();
    }

    @Override
    public Optional<HasMetadata> find(HasMetadata wanted) {
      return Optional.ofNullable(objects.get(wanted.getMetadata().getName()));
    }

    @Override
    public List<HasMetadata> ownedBy(Owner owner) {
      return objects.values().stream()
          .filter(object -> !unseen.contains(object.getMetadata().getName()))
          .toList();
    }

    @Override
    public List<HasMetadata> uncollected(Owner owner) {
      return List.copyOf(objects.values());
    }

    @Override
    public List<HasMetadata> collected(Owner owner) {
      return List.copyOf(objects.values());
    }

    @Override
    public boolean matches(HasMetadata actual, HasMetadata wanted) {
      return actual.equals(wanted);
    }

    @Override
    public boolean rests(HasMetadata wanted) {
      return resting.contains(wanted.getMetadata().getName());
    }

    @Override
    public HasMetadata create(HasMetadata wanted) {
      String name = wanted.getMetadata().getName();
      if (appearing.filter(name::equals).isPresent()) {
        throw new NotOwnedException(ObjectRef.of(wanted));
      }
      calls.add("create " + name);
      objects.put(name, wanted);
      return wanted;
    }

    @Override
    public void takeOver(HasMetadata created, HasMetadata wanted) {
      calls.add("take over " + created.getMetadata().getName());
    }

    @Override
    public void rehearse(HasMetadata wanted) {
      String name = wanted.getMetadata().getName();
      calls.add("rehearse " + name);
      if (refused.filter(name::equals).isPresent()) {
        throw new RefusedObjectException(wanted, new KubernetesClientException("port is taken"));
      }
    }

    @Override
    public void apply(HasMetadata actual, HasMetadata wanted) {
      if (immutable) {
        throw new ImmutableFieldException(
            ObjectRef.of(wanted), new IllegalStateException("field is immutable"));
      }
      calls.add("apply " + wanted.getMetadata().getName());
      objects.put(wanted.getMetadata().getName(), wanted);
    }

    @Override
    public boolean delete(HasMetadata actual) {
      calls.add("delete " + actual.getMetadata().getName());
      objects.remove(actual.getMetadata().getName());
      return true;
    }

    @Override
    public void release(HasMetadata actual, Owner owner) {
      calls.add("release " + actual.getMetadata().getName());
    }
  }
}
