package io.pmemcsi.operator.tools.diff;

import java.util.ArrayList;
import java.util.List;

/** Two texts compared line by line, in the form of {@code diff -u}. */
final class UnifiedDiff {

  private static final int CONTEXT = 3;

  private record Line(char sign, String text) {}

  private UnifiedDiff() {}

  /** The hunks; empty for equal texts. */
  static String of(String before, String after) {
    List<Line> lines = merge(before.lines().toList(), after.lines().toList());
    var out = new StringBuilder();
    int index = 0;
    while (index < lines.size()) {
      if (lines.get(index).sign() == ' ') {
        index++;
        continue;
      }
      int start = Math.max(0, index - CONTEXT);
      int end = hunkEnd(lines, index);
      hunk(lines, start, end, out);
      index = end;
    }
    return out.toString();
  }

  /** Changes that are close to each other share a hunk. */
  private static int hunkEnd(List<Line> lines, int change) {
    int end = change;
    int last = change;
    while (end < lines.size() && end - last <= 2 * CONTEXT) {
      if (lines.get(end).sign() != ' ') {
        last = end;
      }
      end++;
    }
    return Math.min(lines.size(), last + CONTEXT + 1);
  }

  private static void hunk(List<Line> lines, int start, int end, StringBuilder out) {
    List<Line> part = lines.subList(start, end);
    out.append(
        "@@ -%s +%s @@\n"
            .formatted(
                range(lines.subList(0, start), part, '+'),
                range(lines.subList(0, start), part, '-')));
    part.forEach(line -> out.append(line.sign()).append(line.text()).append('\n'));
  }

  /** First line and number of lines, in the text that has no lines with the other sign. */
  private static String range(List<Line> before, List<Line> part, char other) {
    long skipped = before.stream().filter(line -> line.sign() != other).count();
    long count = part.stream().filter(line -> line.sign() != other).count();
    return "%d,%d".formatted(count == 0 ? skipped : skipped + 1, count);
  }

  /** By the longest common subsequence: objects have some hundred lines at most. */
  private static List<Line> merge(List<String> before, List<String> after) {
    int[][] common = new int[before.size() + 1][after.size() + 1];
    for (int i = before.size() - 1; i >= 0; i--) {
      for (int j = after.size() - 1; j >= 0; j--) {
        common[i][j] =
            before.get(i).equals(after.get(j))
                ? common[i + 1][j + 1] + 1
                : Math.max(common[i + 1][j], common[i][j + 1]);
      }
    }
    var lines = new ArrayList<Line>();
    int i = 0;
    int j = 0;
    while (i < before.size() || j < after.size()) {
      if (i < before.size() && j < after.size() && before.get(i).equals(after.get(j))) {
        lines.add(new Line(' ', before.get(i)));
        i++;
        j++;
      } else if (j == after.size() || (i < before.size() && common[i + 1][j] >= common[i][j + 1])) {
        lines.add(new Line('-', before.get(i++)));
      } else {
        lines.add(new Line('+', after.get(j++)));
      }
    }
    return lines;
  }
}
