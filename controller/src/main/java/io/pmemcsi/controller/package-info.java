/**
 * The controller: a scheduler extender and a pod webhook that bring pods with PMEM volumes to nodes
 * that have room, and a rescheduler for claims that wait for a node without the driver. It reads
 * the Kubernetes API and answers over HTTPS. Start with {@link
 * io.pmemcsi.controller.ControllerProgram}.
 */
@NullMarked
package io.pmemcsi.controller;

import org.jspecify.annotations.NullMarked;
