package io.pmemcsi.controller.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.controller.volume.NeededVolume;
import org.junit.jupiter.api.Test;

/** Every pod can ask for any NUMA node of any node. */
class NodeStateTest {

  private final NodeState state = new NodeState("n1");
  private final NeededVolume volume = new NeededVolume("default/a", 10, "7");

  @Test
  void aReleasedNumaNodeLeavesNothing() {
    state.reserve(volume);
    assertThat(state.isUnused()).isFalse();

    state.release(volume);

    assertThat(state.isUnused()).isTrue();
  }

  @Test
  void questionsLeaveNothing() {
    assertThat(state.mayTake(volume)).isTrue();
    assertThat(state.reflects(volume)).isFalse();
    assertThat(state.left("7", 0)).isEmpty();

    assertThat(state.isUnused()).isTrue();
  }
}
