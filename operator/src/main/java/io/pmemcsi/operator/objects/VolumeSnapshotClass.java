package io.pmemcsi.operator.objects;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A class of snapshots, of the API that external-snapshotter installs; it has no spec. */
@Group("snapshot.storage.k8s.io")
@Version("v1")
@Plural("volumesnapshotclasses")
@JsonInclude(JsonInclude.Include.NON_NULL)
public final class VolumeSnapshotClass extends CustomResource<Void, Void> {

  private @Nullable String driver;
  private @Nullable String deletionPolicy;
  private @Nullable Map<String, String> parameters;

  public @Nullable String getDriver() {
    return driver;
  }

  public void setDriver(@Nullable String driver) {
    this.driver = driver;
  }

  public @Nullable String getDeletionPolicy() {
    return deletionPolicy;
  }

  public void setDeletionPolicy(@Nullable String deletionPolicy) {
    this.deletionPolicy = deletionPolicy;
  }

  public @Nullable Map<String, String> getParameters() {
    return parameters;
  }

  public void setParameters(@Nullable Map<String, String> parameters) {
    this.parameters = parameters;
  }
}
