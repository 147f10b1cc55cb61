package io.pmemcsi.driver.linux.exec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BoundedOutputTest {

  private static BoundedOutput.Text read(String text, int limit) throws IOException {
    return BoundedOutput.read(
        new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), limit);
  }

  private static String digits(int count) {
    return "0123456789".repeat(count / 10 + 1).substring(0, count);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 49, 50, 51, 99, 100})
  void outputUpToTheLimitIsKept(int length) throws IOException {
    assertThat(read(digits(length), 100)).isEqualTo(new BoundedOutput.Text(digits(length), 0));
  }

  @Test
  void outputBeyondTheLimitKeepsItsBeginningAndEnd() throws IOException {
    BoundedOutput.Text text = read(digits(20_003), 100);

    assertThat(text.omittedBytes()).isEqualTo(19_903);
    assertThat(text.text())
        .isEqualTo(digits(50) + "\n... (19903 bytes left out) ...\n" + "3456789012".repeat(5));
  }
}
