package io.pmemcsi.bench.driver;

import csi.v1.Volume;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import java.util.List;

/** The expansion of a mounted volume in LVM mode, beside the same commands typed by hand. */
public final class ExpansionByHand implements Benchmark {

  private static final int WARM_UP = 25;
  private static final int ROUNDS = 15;
  private static final long SIZE = 64L << 20;
  private static final long STEP = 16L << 20;

  @Override
  public String name() {
    return "driver-expand";
  }

  @Override
  public List<Figure> measure() throws Exception {
    try (LvmGuest node = LvmGuest.boot()) {
      Volume volume = node.csi().create("pvc", SIZE);
      node.csi().stage(volume, LvmGuest.STAGING);
      node.csi().publish(volume, LvmGuest.STAGING, LvmGuest.TARGET);
      prepareByHand(node);
      Samples driver = new Samples();
      Samples hand = new Samples();
      // both are expanded in turns, so that the filesystems have the same size
      for (int round = 1; round <= WARM_UP + ROUNDS; round++) {
        boolean counts = round > WARM_UP;
        long bytes = SIZE + round * STEP;
        (counts ? driver : new Samples())
            .time(() -> node.csi().expand(volume, LvmGuest.TARGET, bytes));
        double seconds = byHand(node, bytes);
        if (counts) {
          hand.add(seconds);
        }
      }
      double way = node.wayIntoTheGuest();
      System.out.printf(
          "  by CSI %.3f s, of which %.3f s on the way into the guest; by hand %.3f s%n",
          driver.median(), way, hand.median());
      return List.of(
          Figure.atMost(
              1.20,
              "LVM: expand / lvextend, resize2fs by hand",
              (driver.median() - way) / hand.median(),
              ""));
    }
  }

  private static void prepareByHand(LvmGuest node) {
    node.guest()
        .run(
            """
            set -e
            dev=/dev/ndbus0region0fsdax/hand
            lvcreate --quiet --yes --size=%db --name=hand ndbus0region0fsdax > /dev/null
            mkfs.ext4 -q -b 4096 -E stride=512,stripe_width=512 -F $dev
            mkdir -p /run/pods/hand
            mount -o dax=always $dev /run/pods/hand
            """
                .formatted(SIZE));
  }

  private static double byHand(LvmGuest node, long bytes) {
    return node.seconds(
        """
        set -e
        dev=/dev/ndbus0region0fsdax/hand
        start=$EPOCHREALTIME
        lvextend --quiet --size=%db ndbus0region0fsdax/hand > /dev/null
        resize2fs $dev > /dev/null 2>&1
        end=$EPOCHREALTIME
        echo $((${end/./} - ${start/./}))
        """
            .formatted(bytes));
  }
}
