package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.Volume;
import io.grpc.Status;
import io.pmemcsi.driver.device.VolumeId;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The metrics of the driver. */
class MetricsIT extends DriverPerTest {

  @Test
  void metricsReportCapacityCallsAndVersion() throws Exception {
    Volume volume = csi.create("pvc", 4 * MIB);
    assertThatCall(() -> csi.create("", MIB)).fails(Status.Code.INVALID_ARGUMENT);
    csi.delete(volume.getVolumeId());

    String metrics = get("/metrics");
    String labels = "{driver_name=\"pmem-csi.intel.com\",node=\"node-1\"} ";
    assertThat(metrics)
        .contains("pmem_amount_available" + labels)
        .contains("pmem_amount_max_volume_size" + labels)
        .contains("pmem_amount_managed" + labels)
        .contains("pmem_amount_total" + labels)
        .contains(
            "csi_plugin_operations_seconds_count{driver_name=\"pmem-csi.intel.com\",grpc_status_code=\"OK\",method_name=\"/csi.v1.Controller/CreateVolume\"}"
                + " 1")
        .contains("grpc_status_code=\"InvalidArgument\"")
        .contains("le=\"600.0\"")
        .contains("build_info{version=")
        .contains("jvm_memory")
        .contains("process_")
        .contains("pmem_csi_audit_findings{kind=\"device-without-record\"} 0");
    assertThat(get("/metrics/simple")).contains("build_info").doesNotContain("pmem_");
  }

  @Test
  void theFindingsMetricIsUpdatedWhileTheDriverRuns() throws Exception {
    Path unknown = image(VolumeId.fromName("stranger").value());
    Files.createDirectories(unknown.getParent());
    Files.write(unknown, new byte[1 << 20]);
    restart();
    String unknownDevices = "pmem_csi_audit_findings{kind=\"device-without-record\"} ";
    assertThat(get("/metrics")).contains(unknownDevices + 1);

    Files.delete(unknown);
    driver.driver().auditNow();
    assertThat(get("/metrics")).contains(unknownDevices + 0);

    Files.write(unknown, new byte[1 << 20]);
    // a finding counts only if two audits in a row report it
    driver.driver().auditNow();
    driver.driver().auditNow();
    assertThat(get("/metrics")).contains(unknownDevices + 1);
    Files.delete(unknown);
  }

  private String get(String path) throws Exception {
    int port = driver.driver().metricsPort().orElseThrow();
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d%s".formatted(port, path)))
                  .build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    }
  }
}
