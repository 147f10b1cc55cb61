package io.pmemcsi.operator.guard;

/** Finds out what uses a driver at this moment. */
@FunctionalInterface
public interface UsageReader {

  DriverUsage read(String driver);
}
