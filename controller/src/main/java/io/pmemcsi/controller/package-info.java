/**
 * The controller: a scheduler extender and a pod webhook that place pods with PMEM volumes on nodes
 * that have capacity, and a rescheduler for claims that wait for a node without the driver. It
 * reads the Kubernetes API and answers over HTTPS. Start with {@link
 * io.pmemcsi.controller.ControllerProgram}.
 */
@NullMarked
package io.pmemcsi.controller;

import org.jspecify.annotations.NullMarked;
