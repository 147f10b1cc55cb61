package io.pmemcsi.app.taint;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.json.Json;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class StartupTaintTest {
  private static final String REGISTERED =
      "{\"spec\":{\"drivers\":[{\"name\":\"other\"},{\"name\":\"pmem-csi.intel.com\"}]}}";
  private static final String OURS =
      "{\"key\":\"pmem-csi.intel.com/agent-not-ready\",\"effect\":\"NoExecute\"}";
  private static final String OTHER =
      "{\"key\":\"second.example.org/agent-not-ready\",\"effect\":\"NoExecute\"}";

  private final StartupTaint taint = new StartupTaint(new DriverName("pmem-csi.intel.com"));

  @Test
  void aNodeWithoutTheTaintIsLeftAlone() throws IOException {
    assertThat(next("", REGISTERED)).isEqualTo(new StartupTaint.Step.Done());
    assertThat(next(OTHER, REGISTERED)).isEqualTo(new StartupTaint.Step.Done());
    assertThat(taint.next(Json.parse("{}"), Json.parse("{}")))
        .isEqualTo(new StartupTaint.Step.Done());
  }

  @Test
  void theTaintStaysUntilTheDriverIsRegistered() throws IOException {
    assertThat(next(OURS, "{\"spec\":{\"drivers\":null}}"))
        .isInstanceOf(StartupTaint.Step.Wait.class);
  }

  @Test
  void onlyOurTaintIsRemovedAndOnlyFromTheNodeThatWasRead() throws IOException {
    assertThat(next(OURS + "," + OTHER + "," + OURS, REGISTERED))
        .isEqualTo(
            new StartupTaint.Step.Patch(
                "[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"},"
                    + "{\"op\":\"remove\",\"path\":\"/spec/taints/2\"},"
                    + "{\"op\":\"remove\",\"path\":\"/spec/taints/0\"}]"));
  }

  private StartupTaint.Step next(String taints, String csiNode) throws IOException {
    String node =
        "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"taints\":[%s]}}".formatted(taints);
    return taint.next(Json.parse(node), Json.parse(csiNode));
  }
}
