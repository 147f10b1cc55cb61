package io.pmemcsi.driver.linux.exec;

import io.pmemcsi.driver.linux.Timeouts;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A tool with its arguments, its time-out and the exit codes that mean success. */
public record Command(List<String> argv, Duration timeout, Set<Integer> goodExits) {

  public Command {
    argv = List.copyOf(argv);
    goodExits = Set.copyOf(goodExits);
    if (argv.isEmpty() || argv.getFirst().isBlank()) {
      throw new IllegalArgumentException("a command needs a program: " + argv);
    }
    if (timeout.isNegative() || timeout.isZero()) {
      throw new IllegalArgumentException("a command needs a time-out: " + timeout);
    }
  }

  /** A command with the default time-out that succeeds with exit code 0 only. */
  public static Command of(String program, String... arguments) {
    return of(Stream.concat(Stream.of(program), Stream.of(arguments)).toList());
  }

  /** The same for an argument list that is complete. */
  public static Command of(List<String> argv) {
    return new Command(argv, Timeouts.COMMAND, Set.of(0));
  }

  /** The same command with another time-out. */
  public Command within(Duration limit) {
    return new Command(argv, limit, goodExits);
  }

  /** The same command where further exit codes mean success. */
  public Command alsoAccepting(int... exits) {
    return new Command(
        argv,
        timeout,
        Stream.concat(goodExits.stream(), IntStream.of(exits).boxed()).collect(Collectors.toSet()));
  }

  /** The program's name without its directory, for messages. */
  public String program() {
    String first = argv.getFirst();
    return first.substring(first.lastIndexOf('/') + 1);
  }

  /** For people; never for a shell. */
  @Override
  public String toString() {
    return String.join(" ", argv);
  }
}
