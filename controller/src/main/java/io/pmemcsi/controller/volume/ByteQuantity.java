package io.pmemcsi.controller.volume;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;

/** Amounts of storage in the notation of Kubernetes. */
public final class ByteQuantity {

  private static final String[] UNITS = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

  private ByteQuantity() {}

  /**
   * Reads a quantity such as {@code 4Gi}, rounded up to whole bytes.
   *
   * @throws IllegalArgumentException if it is no quantity, or negative
   */
  public static long parse(String text) {
    BigDecimal amount;
    try {
      amount = Quantity.parse(text.strip()).getNumericalAmount();
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(
          "\"%s\" is not a quantity: write for example 4Gi".formatted(text), e);
    }
    if (amount.signum() < 0) {
      throw new IllegalArgumentException("\"%s\" is negative".formatted(text));
    }
    return amount
        .setScale(0, RoundingMode.CEILING)
        .min(BigDecimal.valueOf(Long.MAX_VALUE))
        .longValue();
  }

  /** The shortest exact form with a binary unit, for example {@code 63484MiB}. */
  public static String format(long bytes) {
    int unit = 0;
    long value = bytes;
    while (value != 0 && value % 1024 == 0 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return value + UNITS[unit] + "B";
  }
}
