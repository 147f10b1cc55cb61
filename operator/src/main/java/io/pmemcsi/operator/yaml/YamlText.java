package io.pmemcsi.operator.yaml;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads YAML, of which JSON is a part. Whatever a text does to the parser, the answer is documents
 * or one line that says in words what is wrong.
 */
public final class YamlText {

  private static final ObjectMapper JSON = new ObjectMapper();

  // the caller has limited the size of the text
  private static final LoadSettings SETTINGS =
      LoadSettings.builder().setCodePointLimit(Integer.MAX_VALUE).build();

  private YamlText() {}

  /**
   * One document of a text.
   *
   * @param number counts from one, empty documents too
   */
  public record Document(int number, JsonNode content) {}

  /**
   * The documents that are not empty, in their order.
   *
   * @throws IllegalArgumentException with the error in the text
   */
  public static List<Document> documents(String text) {
    List<Document> documents = new ArrayList<>();
    int number = 0;
    try {
      for (Object content : new Load(SETTINGS).loadAllFromString(text)) {
        number++;
        // a text may start or end with a separator
        if (content != null) {
          documents.add(new Document(number, json(number, content)));
        }
      }
    } catch (MarkedYamlEngineException e) {
      String place =
          e.getProblemMark().map(mark -> "line " + (mark.getLine() + 1)).orElse("the text");
      throw new IllegalArgumentException("%s is no YAML: %s".formatted(place, e.getProblem()), e);
    } catch (YamlEngineException e) {
      throw new IllegalArgumentException(describe(number + 1, e), e);
    } catch (StackOverflowError e) {
      // the parser calls itself for each level and has no limit of its own
      throw new IllegalArgumentException(
          "it is nested too deeply: nothing that is read here has that many levels", e);
    }
    return documents;
  }

  private static String describe(int number, YamlEngineException e) {
    // what makes numbers and bytes of texts fails in its own way, which the parser passes on
    return e.getCause() == null
        ? "document %d is no YAML: %s".formatted(number, e.getMessage())
        : ("document %d has a value that does not fit its tag: correct the value, or take tags such"
                + " as !!int away")
            .formatted(number);
  }

  private static JsonNode json(int number, Object content) {
    try {
      return JSON.readTree(JSON.writeValueAsString(content));
    } catch (JsonProcessingException e) {
      // the whole message repeats each level on the way there
      throw new IllegalArgumentException(
          "document %d cannot be read: %s"
              .formatted(
                  number,
                  e instanceof StreamConstraintsException
                          || e.getCause() instanceof StreamConstraintsException
                      ? "it is nested too deeply, refers to itself, or has a number without end"
                      : "it has what JSON cannot hold, such as a field without a name"),
          e);
    }
  }
}
