package io.pmemcsi.api;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rules for the snapshot classes of a driver that span several of them. */
public final class SnapshotClassChecks {

  public static final String ONE_DEFAULT_CEL =
      "!has(self.snapshotClassTemplates)"
          + " || self.snapshotClassTemplates.filter(c, has(c.default) && c.default).size() <= 1";
  public static final String ONE_DEFAULT =
      "more than one snapshot class is the default: set default to true in one of"
          + " snapshotClassTemplates at most";

  public static final String UNIQUE_CLASSES_CEL =
      "!has(self.snapshotClassTemplates) || self.snapshotClassTemplates.all(c,"
          + " self.snapshotClassTemplates.exists_one(d, d.metadata.name == c.metadata.name))";
  public static final String UNIQUE_CLASSES =
      "two snapshot classes have the same name: give each of snapshotClassTemplates its own";

  private SnapshotClassChecks() {}

  /** What is wrong with the classes of one resource. */
  public static List<Violation> check(@Nullable List<SnapshotClassTemplate> written) {
    List<SnapshotClassTemplate> classes = Optional.ofNullable(written).orElse(List.of());
    List<Violation> found = new ArrayList<>();
    if (classes.stream().filter(one -> Boolean.TRUE.equals(one.isDefault())).count() > 1) {
      found.add(new Violation("spec", "", ONE_DEFAULT));
    }
    Set<String> names = new HashSet<>();
    classes.stream()
        .map(SnapshotClassTemplate::name)
        .filter(name -> !name.isEmpty() && !names.add(name))
        .distinct()
        .map(name -> new Violation("spec", name, UNIQUE_CLASSES))
        .forEach(found::add);
    return found;
  }
}
