package io.pmemcsi.api;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The fields that both kinds of PMEM-CSI deployments have, as written: what is missing is null. */
public interface SharedSpec {

  @Nullable String image();

  @Nullable String pullPolicy();

  @Nullable String imagePullPolicy();

  @Nullable String provisionerImage();

  @Nullable String nodeRegistrarImage();

  @Nullable String registrarImage();

  @Nullable String deviceMode();

  @Nullable Integer logLevel();

  @Nullable String logFormat();

  @Nullable Map<String, String> nodeSelector();

  @Nullable Integer pmemPercentage();

  @Nullable Map<String, String> labels();

  @Nullable String kubeletDir();

  /** Only where the controller has the scheduler extender and the webhook. */
  default @Nullable String mutatePods() {
    return null;
  }

  /** Only where the controller has the scheduler extender and the webhook. */
  default @Nullable Integer schedulerNodePort() {
    return null;
  }

  @Nullable String deletionPolicy();
}
