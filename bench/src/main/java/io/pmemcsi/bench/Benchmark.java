package io.pmemcsi.bench;

import java.util.List;

/** One measurement, with all its own set-up; it leaves nothing behind. */
public interface Benchmark {

  /** What it is called on the command line. */
  String name();

  List<Figure> measure() throws Exception;
}
