package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** An HTTP status and the object that goes with it. */
public record ApiAnswer(int code, ObjectNode body) {}
