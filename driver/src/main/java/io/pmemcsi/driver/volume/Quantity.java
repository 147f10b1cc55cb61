package io.pmemcsi.driver.volume;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Kubernetes quantities such as {@code 1.5Gi}, as bytes. */
public final class Quantity {

  private static final Pattern SYNTAX =
      Pattern.compile("([+-]?(?:\\d+\\.?\\d*|\\.\\d+))([eE][+-]?\\d{1,3}|[KMGTPE]i|[numkMGTPE])?");
  private static final List<String> BINARY = List.of("Ki", "Mi", "Gi", "Ti", "Pi", "Ei");
  private static final List<String> DECIMAL = List.of("k", "M", "G", "T", "P", "E");
  private static final List<String> SMALL = List.of("m", "u", "n");
  private static final BigInteger LARGEST = BigInteger.valueOf(Long.MAX_VALUE);

  private Quantity() {}

  /**
   * The number of bytes, fractions rounded up.
   *
   * @throws IllegalArgumentException when it is no quantity, is negative or is too large
   */
  public static long parseBytes(String text) {
    Matcher matcher = SYNTAX.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "\"%s\" is not a quantity, write for example 100Mi or 1Gi".formatted(text));
    }
    BigDecimal number = new BigDecimal(matcher.group(1)).multiply(factor(matcher.group(2)));
    BigInteger bytes = number.setScale(0, RoundingMode.CEILING).toBigInteger();
    if (bytes.signum() < 0 || bytes.compareTo(LARGEST) > 0) {
      throw new IllegalArgumentException("\"%s\" is not a possible size".formatted(text));
    }
    return bytes.longValueExact();
  }

  /** Bytes in the largest binary unit that needs no fraction, for example {@code 31740Mi}. */
  public static String format(long bytes) {
    long value = bytes;
    int unit = -1;
    while (value != 0 && value % 1024 == 0 && unit < BINARY.size() - 1) {
      value /= 1024;
      unit++;
    }
    return unit < 0 ? Long.toString(value) : value + BINARY.get(unit);
  }

  private static BigDecimal factor(@Nullable String suffix) {
    if (suffix == null) {
      return BigDecimal.ONE;
    }
    if (BINARY.contains(suffix)) {
      return new BigDecimal(BigInteger.ONE.shiftLeft(10 * (BINARY.indexOf(suffix) + 1)));
    }
    if (DECIMAL.contains(suffix)) {
      return BigDecimal.TEN.pow(3 * (DECIMAL.indexOf(suffix) + 1));
    }
    if (SMALL.contains(suffix)) {
      return BigDecimal.ONE.movePointLeft(3 * (SMALL.indexOf(suffix) + 1));
    }
    return BigDecimal.ONE.scaleByPowerOfTen(Integer.parseInt(suffix.substring(1)));
  }
}
