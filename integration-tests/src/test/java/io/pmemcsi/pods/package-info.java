/**
 * Pods with volumes on a real node: the operator and the driver run from the image, installed as a
 * user installs them. Start reading at PodVolumesIT.
 */
@NullMarked
package io.pmemcsi.pods;

import org.jspecify.annotations.NullMarked;
