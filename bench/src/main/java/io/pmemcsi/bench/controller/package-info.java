/**
 * The controller: how quickly it answers, what it costs the scheduler, how much memory it takes.
 */
@NullMarked
package io.pmemcsi.bench.controller;

import org.jspecify.annotations.NullMarked;
