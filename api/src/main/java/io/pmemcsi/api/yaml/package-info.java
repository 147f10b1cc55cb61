/** YAML for users: {@link io.pmemcsi.api.yaml.YamlWriter}. */
@NullMarked
package io.pmemcsi.api.yaml;

import org.jspecify.annotations.NullMarked;
