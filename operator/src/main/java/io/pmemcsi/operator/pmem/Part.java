package io.pmemcsi.operator.pmem;

/** The programs of one driver, as their labels call them. */
enum Part {
  CONTROLLER("controller"),
  NODE("node"),
  NODE_SETUP("node-setup");

  private final String label;

  Part(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }
}
