package io.pmemcsi.driver.registry.tls;

import java.nio.file.Path;

/**
 * The files with which one side of a connection proves who it is, in PEM format.
 *
 * @param ca certificates of the authorities that peers are verified with
 * @param certificate the own certificate, followed by intermediate ones if there are any
 * @param key the private key of the own certificate
 */
public record TlsFiles(Path ca, Path certificate, Path key) {}
