/**
 * YAML that users write, read in one way wherever they write it ({@link
 * io.pmemcsi.operator.yaml.YamlText}), and YAML for users ({@link
 * io.pmemcsi.operator.yaml.YamlWriter}).
 */
@NullMarked
package io.pmemcsi.operator.yaml;

import org.jspecify.annotations.NullMarked;
