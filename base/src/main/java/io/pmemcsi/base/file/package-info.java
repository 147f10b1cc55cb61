/**
 * Files that users name and write: what can be a path, and how much of a file is taken. Start with
 * {@link io.pmemcsi.base.file.FilePath}.
 */
@NullMarked
package io.pmemcsi.base.file;

import org.jspecify.annotations.NullMarked;
