package io.pmemcsi.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** What became of a shell script, and all that it said. */
record ScriptRun(int exitCode, String out, String err) {

  /**
   * Runs one with nothing in its environment but what is given.
   *
   * @param directory takes what it says
   */
  static ScriptRun of(Path directory, Map<String, String> environment, String... scriptAndArguments)
      throws IOException, InterruptedException {
    Path out = directory.resolve("out");
    Path err = directory.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder("/bin/sh").redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.command().addAll(List.of(scriptAndArguments));
    builder.environment().clear();
    builder.environment().putAll(environment);
    int exitCode = builder.start().waitFor();
    return new ScriptRun(exitCode, Files.readString(out), Files.readString(err));
  }
}
