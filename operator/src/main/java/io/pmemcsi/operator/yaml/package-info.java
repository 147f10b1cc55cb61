/**
 * YAML that users write, read in one way wherever they write it: {@link
 * io.pmemcsi.operator.yaml.YamlText}.
 */
@NullMarked
package io.pmemcsi.operator.yaml;

import org.jspecify.annotations.NullMarked;
