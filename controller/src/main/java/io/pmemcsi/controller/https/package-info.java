/**
 * An HTTPS server for the scheduler and the API server: small requests that have to be answered
 * quickly, certificates that change while it runs, clients that are slow, silent or wrong. Start
 * with {@link io.pmemcsi.controller.https.ControllerServer}.
 */
@NullMarked
package io.pmemcsi.controller.https;

import org.jspecify.annotations.NullMarked;
