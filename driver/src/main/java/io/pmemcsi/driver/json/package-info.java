/**
 * JSON as values, for what tools print and the ledger keeps. On the streaming reader alone: the
 * usual mapping of JSON to classes would take more memory than all that the driver itself keeps.
 */
@NullMarked
package io.pmemcsi.driver.json;

import org.jspecify.annotations.NullMarked;
