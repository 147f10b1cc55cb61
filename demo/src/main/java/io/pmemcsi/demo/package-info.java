/**
 * The main job with no cluster and no PMEM: the real operator on an in-process Kubernetes API, and
 * the real driver on file-backed devices. What is only simulated is called so in the output. Start
 * with {@link io.pmemcsi.demo.Demo}. Besides, what only runs while the program or its image is
 * built: the training of AOT caches and the image's SBOM.
 */
@NullMarked
package io.pmemcsi.demo;

import org.jspecify.annotations.NullMarked;
