package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A cluster on which the engine writes nothing: the API server is asked what a write would give,
 * and keeps nothing of it. What the engine meant to do is remembered.
 */
public final class DryRunCluster implements Cluster {

  private final KubernetesClient client;
  private final String fieldManager;
  private final OwnershipLabels marks;
  private final List<Class<? extends HasMetadata>> kinds;
  private final List<Intent> intents = new ArrayList<>();

  /**
   * What would become of one object.
   *
   * @param before empty for a new one
   * @param after empty for one that goes
   */
  public record Intent(Optional<HasMetadata> before, Optional<HasMetadata> after) {}

  /**
   * A view of the cluster behind a client.
   *
   * @param kinds among which objects that are no longer wanted are looked for
   */
  public DryRunCluster(
      KubernetesClient client,
      String fieldManager,
      OwnershipLabels marks,
      List<Class<? extends HasMetadata>> kinds) {
    this.client = client;
    this.fieldManager = fieldManager;
    this.marks = marks;
    this.kinds = List.copyOf(kinds);
  }

  /** What the engine meant to do, in its order. */
  public List<Intent> intents() {
    return List.copyOf(intents);
  }

  @Override
  public Optional<HasMetadata> find(HasMetadata wanted) {
    return Optional.ofNullable(client.resource(wanted).get());
  }

  @Override
  public List<HasMetadata> ownedBy(Owner owner) {
    var result = new ArrayList<HasMetadata>();
    for (Class<? extends HasMetadata> kind : kinds) {
      result.addAll(
          client
              .resources(kind)
              .inAnyNamespace()
              .withLabel(marks.uidLabel(), owner.uid())
              .list()
              .getItems());
    }
    result.removeIf(object -> OwnershipLabels.isCopy(object, fieldManager));
    return result;
  }

  /** Never by our own judgement: the server is asked about every object. */
  @Override
  public boolean matches(HasMetadata actual, HasMetadata wanted) {
    return false;
  }

  @Override
  public HasMetadata create(HasMetadata wanted) {
    // the engine creates again at once what it has just deleted
    Optional<HasMetadata> replaced =
        intents.isEmpty() || intents.getLast().after().isPresent()
            ? Optional.empty()
            : intents
                .getLast()
                .before()
                .filter(old -> ObjectRef.of(old).isSameObjectAs(ObjectRef.of(wanted)));
    if (replaced.isPresent()) {
      intents.removeLast();
    }
    intents.add(new Intent(replaced, Optional.of(wanted)));
    return wanted;
  }

  /** Nothing was created of which to take note. */
  @Override
  public void takeOver(HasMetadata created, HasMetadata wanted) {}

  /** Nobody asks for it: everything here is a rehearsal. */
  @Override
  public void rehearse(HasMetadata wanted) {
    throw new UnsupportedOperationException("a dry run is a rehearsal: " + ObjectRef.of(wanted));
  }

  @Override
  public void apply(HasMetadata actual, HasMetadata wanted) {
    try {
      HasMetadata result = DryRun.apply(wanted, fieldManager, client);
      HasMetadata mended =
          ForeignFields.takenAway(result, wanted, client.getKubernetesSerialization());
      intents.add(new Intent(Optional.of(actual), Optional.of(mended)));
    } catch (KubernetesClientException e) {
      if (ImmutableFieldException.isCauseOf(e)) {
        throw new ImmutableFieldException(ObjectRef.of(wanted), e);
      }
      throw e;
    }
  }

  @Override
  public boolean delete(HasMetadata actual) {
    intents.add(new Intent(Optional.of(actual), Optional.empty()));
    return true;
  }

  /** Nobody asks for it: what a resource leaves behind is not part of applying it. */
  @Override
  public void release(HasMetadata actual, Owner owner) {
    throw new UnsupportedOperationException("a dry run releases nothing: " + ObjectRef.of(actual));
  }
}
