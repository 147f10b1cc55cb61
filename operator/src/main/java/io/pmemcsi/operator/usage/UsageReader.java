package io.pmemcsi.operator.usage;

/** Reads what uses a driver now. */
@FunctionalInterface
public interface UsageReader {

  DriverUsage read(String driver);
}
