/**
 * The main job with no cluster and no PMEM: the real operator on an in-process Kubernetes API, and
 * the real driver on file-backed devices. What is only simulated is called so in the output. Start
 * with {@link io.pmemcsi.demo.Demo}.
 */
@NullMarked
package io.pmemcsi.demo;

import org.jspecify.annotations.NullMarked;
