package io.pmemcsi.driver.guest;

import io.pmemcsi.testbed.guest.GuestClassPath;
import io.pmemcsi.testbed.guest.PmemGuest;
import java.util.List;

/** How a program of this module is started in the guest, where a JVM is very slow. */
final class GuestJava {
  private static final List<String> NOT_NEEDED =
      List.of(
          "junit", "assertj", "awaitility", "fabric8", "testbed", "bcp", "snakeyaml", "archunit");

  private GuestJava() {}

  static String commandLine(PmemGuest guest, Class<?> program, Object... arguments) {
    String classPath =
        GuestClassPath.copy(
            guest, path -> NOT_NEEDED.stream().noneMatch(path.getFileName().toString()::contains));
    StringBuilder line =
        new StringBuilder("/jdk/bin/java -XX:+UseSerialGC -XX:TieredStopAtLevel=1")
            // verifying classes takes most of the start, and the compiler on the host made them
            .append(" -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote")
            .append(" --enable-native-access=ALL-UNNAMED -cp ")
            .append(classPath)
            .append(' ')
            .append(program.getName());
    for (Object argument : arguments) {
      line.append(' ').append(argument);
    }
    return line.toString();
  }
}
