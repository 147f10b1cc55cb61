package io.pmemcsi.base.error;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ReasonTest {

  @TempDir private Path directory;

  @Test
  void whatTheSystemSaysAboutFilesIsSaidInWords() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    Path text = Files.write(directory.resolve("text"), new byte[] {(byte) 0xff});

    assertThat(reason(() -> Files.readString(directory.resolve("missing"))))
        .isEqualTo("no such file or directory");
    assertThat(reason(() -> Files.createDirectory(file))).isEqualTo("something else is there");
    assertThat(reason(() -> Files.delete(directory))).isEqualTo("the directory is not empty");
    assertThat(reason(() -> Files.readString(text))).isEqualTo("no text in UTF-8");
    assertThat(reason(() -> Files.readString(file.resolve("below")))).isEqualTo("Not a directory");
    assertThat(reason(() -> Files.readString(directory))).isEqualTo("Is a directory");
  }

  static Stream<Arguments> otherFailures() {
    return Stream.of(
        Arguments.of(new AccessDeniedException("/x"), "permission denied"),
        Arguments.of(new NotDirectoryException("/x"), "not a directory"),
        Arguments.of(new UnknownHostException("x"), "its host name is not known"),
        Arguments.of(new UnresolvedAddressException(), "its host name is not known"),
        Arguments.of(new HttpConnectTimeoutException("x"), "no answer in time"),
        Arguments.of(new ClosedChannelException(), "no connection"),
        Arguments.of(new ConnectException(), "no connection"),
        Arguments.of(new ConnectException("Connection refused"), "Connection refused"),
        Arguments.of(new IOException("disk was removed"), "disk was removed"),
        Arguments.of(new IOException(), "java.io.IOException"));
  }

  @ParameterizedTest
  @MethodSource("otherFailures")
  void theRootCauseIsReported(Exception bottom, String reason) {
    assertThat(Reason.of(new UncheckedIOException(new IOException("call failed", bottom))))
        .isEqualTo(reason);
  }

  @Test
  void theFileIsNamedWhereTheCallerDoesNotKnowIt() {
    Exception gone = new NoSuchFileException("/x");

    assertThat(Reason.withFile(new IllegalStateException("call failed", gone)))
        .isEqualTo("/x: no such file or directory");
    assertThat(Reason.withFile(new IOException("disk was removed"))).isEqualTo("disk was removed");
  }

  private static String reason(ThrowingCallable failing) {
    return Reason.of(catchThrowable(failing));
  }
}
