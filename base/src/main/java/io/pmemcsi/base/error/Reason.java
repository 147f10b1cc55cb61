package io.pmemcsi.base.error;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/**
 * Why a file or a connection failed, in words: the JDK often says it by the name of an exception
 * alone, and its message is only the path once more.
 */
public final class Reason {

  private Reason() {}

  /** The root cause of a failure. */
  public static String of(Throwable failure) {
    Throwable cause = bottom(failure);
    return switch (cause) {
      case NoSuchFileException _ -> "no such file or directory";
      case AccessDeniedException _ -> "permission denied";
      case FileAlreadyExistsException _ -> "something else is there";
      case DirectoryNotEmptyException _ -> "the directory is not empty";
      case NotDirectoryException _ -> "not a directory";
      case CharacterCodingException _ -> "no text in UTF-8";
      case UnresolvedAddressException _, UnknownHostException _ -> "its host name is not known";
      case HttpTimeoutException _ -> "no answer in time";
      // the JDK's HTTP client keeps the real reason to itself
      case ClosedChannelException _ -> "no connection";
      case ConnectException refused when refused.getMessage() == null -> "no connection";
      case FileSystemException other when other.getReason() != null -> other.getReason();
      default -> message(cause);
    };
  }

  /** The root cause with the file, for messages that do not name it. */
  public static String withFile(Throwable failure) {
    return bottom(failure) instanceof FileSystemException file
        ? "%s: %s".formatted(file.getFile(), of(file))
        : of(failure);
  }

  private static Throwable bottom(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  private static String message(Throwable cause) {
    String message = cause.getMessage();
    return message == null || message.isBlank() ? cause.toString() : message;
  }
}
