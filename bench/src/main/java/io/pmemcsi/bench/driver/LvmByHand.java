package io.pmemcsi.bench.driver;

import csi.v1.Volume;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import java.util.List;

/** A volume for a pod in LVM mode, beside the same commands typed by hand. */
public final class LvmByHand implements Benchmark {

  private static final int WARM_UP = 40;
  private static final int ROUNDS = 31;
  private static final int LIVE_CALLS = 3;
  private static final long SIZE = 256L << 20;
  private static final long SMALL = 16L << 20;

  @Override
  public String name() {
    return "driver-lvm";
  }

  @Override
  public List<Figure> measure() throws Exception {
    try (LvmGuest node = LvmGuest.boot()) {
      for (int round = 0; round < WARM_UP; round++) {
        live(node.csi(), "warm-" + round, SMALL);
      }
      double way = LIVE_CALLS * node.wayIntoTheGuest();
      Samples driver = new Samples();
      Samples hand = new Samples();
      Samples ratios = new Samples();
      for (int round = 0; round < ROUNDS; round++) {
        // both halves of a round see the same moment of the machine, and neither is always first
        boolean handFirst = round % 2 == 0;
        double before = handFirst ? byHand(node) : 0;
        double byCsi = live(node.csi(), "pvc-" + round, SIZE);
        double byHand = handFirst ? before : byHand(node);
        driver.add(byCsi);
        hand.add(byHand);
        ratios.add((byCsi - way) / byHand);
      }
      System.out.printf(
          "  by CSI %.3f s, of which %.3f s on the way into the guest; by hand %.3f s%n",
          driver.median(), way, hand.median());
      return List.of(
          Figure.atMost(
              1.10,
              "LVM: create, stage, publish / lvcreate, mkfs, mount by hand",
              ratios.median(),
              ""));
    }
  }

  /** What an administrator would type, and how many seconds of it are no cleaning up. */
  private static double byHand(LvmGuest node) {
    return node.seconds(
        """
            set -e
            dev=/dev/ndbus0region0fsdax/hand
            start=$EPOCHREALTIME
            lvcreate --quiet --yes --size=%db --name=hand ndbus0region0fsdax > /dev/null
            mkfs.ext4 -q -b 4096 -E stride=512,stripe_width=512 -F $dev
            mkdir -p /run/pods/hand /run/pods/hand-pod
            mount -o dax=always $dev /run/pods/hand
            mount --bind /run/pods/hand /run/pods/hand-pod
            end=$EPOCHREALTIME
            umount /run/pods/hand-pod /run/pods/hand
            dd if=/dev/zero of=$dev bs=8M oflag=direct 2> /dev/null || true
            lvremove --quiet --force --yes ndbus0region0fsdax/hand > /dev/null
            echo $((${end/./} - ${start/./}))
            """
            .formatted(SIZE));
  }

  /** The whole life of a volume, and how many seconds of it are no cleaning up. */
  private static double live(CsiClient csi, String name, long size) {
    long start = System.nanoTime();
    Volume volume = csi.create(name, size);
    csi.stage(volume, LvmGuest.STAGING);
    csi.publish(volume, LvmGuest.STAGING, LvmGuest.TARGET);
    double seconds = (System.nanoTime() - start) / 1e9;
    csi.unpublish(volume, LvmGuest.TARGET);
    csi.unstage(volume, LvmGuest.STAGING);
    csi.delete(volume);
    return seconds;
  }
}
