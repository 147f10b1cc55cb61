package io.pmemcsi.app.settings;

import java.nio.file.Path;

/** Where the files of a TLS server are. */
public record Tls(Path caFile, Path certFile, Path keyFile) {}
