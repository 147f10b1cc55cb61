package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** An HTTP status and the object in the body. */
public record ApiResponse(int code, ObjectNode body) {}
