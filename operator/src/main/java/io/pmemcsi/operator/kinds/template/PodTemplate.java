package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.pmemcsi.api.Written;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Additions to a user's pod template; what the user wrote comes first and stays as it was. */
final class PodTemplate {

  private PodTemplate() {}

  /** The account that the user chose, under its current or former name. */
  static Optional<String> account(PodTemplateSpec template) {
    return Written.text(template.getSpec().getServiceAccountName())
        .or(() -> Written.text(template.getSpec().getServiceAccount()));
  }

  /** The template with labels added, and with an account where the user chose none. */
  static PodTemplateSpec prepared(
      PodTemplateSpec template, Map<String, String> labels, String account) {
    if (template.getMetadata() == null) {
      template.setMetadata(new ObjectMeta());
    }
    ObjectMeta metadata = template.getMetadata();
    var all = new LinkedHashMap<String, String>();
    if (metadata.getLabels() != null) {
      all.putAll(metadata.getLabels());
    }
    all.putAll(labels);
    metadata.setLabels(all);
    PodSpec pod = template.getSpec();
    if (account(template).isEmpty()) {
      pod.setServiceAccountName(account);
    }
    pod.setContainers(new ArrayList<>(pod.getContainers()));
    return template;
  }

  static void addVolumes(PodSpec pod, Volume... volumes) {
    var all = new ArrayList<>(pod.getVolumes());
    all.addAll(Arrays.asList(volumes));
    pod.setVolumes(all);
  }

  static void addMounts(Container container, VolumeMount... mounts) {
    var all = new ArrayList<>(container.getVolumeMounts());
    all.addAll(Arrays.asList(mounts));
    container.setVolumeMounts(all);
  }
}
