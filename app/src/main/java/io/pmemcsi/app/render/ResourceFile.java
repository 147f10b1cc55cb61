package io.pmemcsi.app.render;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.file.BoundedText;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.operator.yaml.YamlText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/** Resources as a user keeps them: one or more YAML documents, or JSON, in a file. */
public final class ResourceFile {

  /** Stands for standard input. */
  public static final String STANDARD_INPUT = "-";

  private static final Form RESOURCE = new Form("resource", "apiVersion, kind, metadata and spec");

  private final String name;
  private final List<Document> documents;

  /**
   * What a file should hold, for messages.
   *
   * @param fields those at the top
   */
  public record Form(String noun, String fields) {}

  /**
   * One resource of a file.
   *
   * @param position says where it is, for messages
   */
  public record Document(String position, String apiVersion, String kind, String json) {}

  private ResourceFile(String name, List<Document> documents) {
    this.name = name;
    this.documents = List.copyOf(documents);
  }

  /** Reads what a user names: a file, all files of a directory, or standard input for a dash. */
  public static List<ResourceFile> readAll(String name, InputStream in) {
    if (name.equals(STANDARD_INPUT)) {
      return List.of(read("standard input", RESOURCE, () -> BoundedText.read(in)));
    }
    Path path = Flag.required("-f", name, FilePath::parse);
    return (Files.isDirectory(path) ? ResourceDirectory.files(path) : List.of(path))
        .stream().map(file -> read(file, file.toString(), RESOURCE)).toList();
  }

  /** Reads a file that messages call by a label of its own. */
  public static ResourceFile read(Path file, String label, Form form) {
    if (Files.isDirectory(file)) {
      throw new UsageException("%s is a directory: name a file in it".formatted(label));
    }
    return read(label, form, () -> BoundedText.read(file));
  }

  private static ResourceFile read(String label, Form form, Source source) {
    return new ResourceFile(label, documents(label, form, text(label, form, source)));
  }

  /** The resources in the order of the file; there is at least one. */
  public List<Document> documents() {
    return documents;
  }

  @Override
  public String toString() {
    return name;
  }

  private interface Source {
    String text() throws IOException;
  }

  private static String text(String label, Form form, Source source) {
    try {
      return source.text();
    } catch (NoSuchFileException e) {
      throw new UsageException(
          "%s does not exist: name a file with a %s".formatted(label, form.noun()), e);
    } catch (CharacterCodingException e) {
      throw new FatalException(
          "%s is no text in UTF-8: save it as such, or name another file".formatted(label), e);
    } catch (IOException e) {
      throw new UsageException("%s cannot be read: %s".formatted(label, reason(e)), e);
    }
  }

  /** Why and what to do; the message of the exception is often only the path once more. */
  static String reason(IOException exception) {
    return exception instanceof AccessDeniedException
        ? "permission denied; run as a user who may read it, or name another file"
        : "%s; name another file".formatted(Reason.of(exception));
  }

  private static List<Document> documents(String label, Form form, String text) {
    List<YamlText.Document> documents;
    try {
      documents = YamlText.documents(text);
    } catch (IllegalArgumentException e) {
      throw new FatalException("%s: %s".formatted(label, e.getMessage()), e);
    }
    if (documents.isEmpty()) {
      throw new FatalException("%s is empty: it should have %s".formatted(label, form.fields()));
    }
    return documents.stream()
        .map(
            found ->
                document("%s, document %d".formatted(label, found.number()), form, found.content()))
        .toList();
  }

  private static Document document(String position, Form form, JsonNode content) {
    if (!content.isObject()) {
      throw new FatalException(
          "%s is no %s: it should have %s".formatted(position, form.noun(), form.fields()));
    }
    return new Document(
        position,
        field(position, form, content, "apiVersion"),
        field(position, form, content, "kind"),
        content.toString());
  }

  private static String field(String position, Form form, JsonNode content, String name) {
    JsonNode field = content.path(name);
    if (field.isTextual() && !field.asText().isBlank()) {
      return field.asText();
    }
    throw new FatalException("%s is no %s: it has no %s".formatted(position, form.noun(), name));
  }
}
