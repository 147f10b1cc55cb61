/**
 * The startup taint: pods come to a node only when the driver there is ready. Start with {@link
 * io.pmemcsi.app.taint.TaintRemoval}. The client library of the operator would not fit into the
 * memory of a node driver, so this package speaks to the API server with that of the JDK.
 */
@NullMarked
package io.pmemcsi.app.taint;

import org.jspecify.annotations.NullMarked;
