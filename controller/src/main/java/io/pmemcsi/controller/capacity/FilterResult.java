package io.pmemcsi.controller.capacity;

import java.util.List;
import java.util.Map;

/**
 * Which nodes a pod may use.
 *
 * @param passed in the order of the question
 * @param refused the other ones, each with the reason
 */
public record FilterResult(List<String> passed, Map<String, String> refused) {}
