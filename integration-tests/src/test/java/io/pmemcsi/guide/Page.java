package io.pmemcsi.guide;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page of the documentation with its code blocks. */
public record Page(String name, List<Block> blocks) {

  /** A fence may be indented, as in a list. */
  private static final Pattern FENCE =
      Pattern.compile("(?ms)^( *)```(\\w*) *\\n(.*?)^ *``` *$", Pattern.MULTILINE);

  /**
   * What is between two fences.
   *
   * @param language what follows the opening fence; it says what a test does with the block
   */
  public record Block(String language, String text) {

    /** One command per line; a backslash at the end of a line continues it, # starts a comment. */
    List<String> commands() {
      List<String> commands = new ArrayList<>();
      for (String line : text.replaceAll("\\\\\\n *", "").lines().toList()) {
        String command = line.replaceFirst("(^|\\s)#.*", "").strip();
        if (!command.isEmpty()) {
          commands.add(command);
        }
      }
      return commands;
    }
  }

  public static Page read(Path root, String name) {
    try {
      return new Page(name, parse(Files.readString(root.resolve(name))));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + name, e);
    }
  }

  static List<Block> parse(String markdown) {
    List<Block> blocks = new ArrayList<>();
    Matcher fence = FENCE.matcher(markdown);
    while (fence.find()) {
      String text = fence.group(3).replaceAll("(?m)^" + fence.group(1), "");
      blocks.add(new Block(fence.group(2), text));
    }
    return blocks;
  }

  public List<Block> blocks(String language) {
    return blocks.stream().filter(block -> block.language().equals(language)).toList();
  }

  List<String> commands() {
    return blocks("console").stream().flatMap(block -> block.commands().stream()).toList();
  }

  @Override
  public String toString() {
    return name;
  }
}
