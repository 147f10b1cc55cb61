package io.pmemcsi.operator.pmemdriver;

/** The programs of one driver, as their labels call them. */
public enum Component {
  CONTROLLER("controller"),
  NODE("node"),
  NODE_SETUP("node-setup");

  private final String label;

  Component(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }
}
