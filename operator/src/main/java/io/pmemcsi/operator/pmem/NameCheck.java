package io.pmemcsi.operator.pmem;

import io.pmemcsi.api.pmem.PmemSettings;
import java.util.List;
import java.util.Optional;

/** Whether Kubernetes will take the names that follow from the name of a driver. */
final class NameCheck {

  private NameCheck() {}

  /** What is wrong, if anything; found before the first object is written. */
  static Optional<String> problem(PmemSettings settings) {
    var names = new PmemNames(settings.driver());
    if (!settings.hasController()) {
      return Optional.empty();
    }
    for (String service : List.of(names.schedulerService(), names.webhookService())) {
      if (service.length() > PmemNames.MAX_SERVICE_NAME) {
        return Optional.of(
            "metadata.name: with the controller, the name may have %d characters at most, because"
                    .formatted(
                        PmemNames.MAX_SERVICE_NAME
                            - (service.length() - names.driverName().length()))
                + " service \"%s\" may have %d: use a shorter name or no controller"
                    .formatted(service, PmemNames.MAX_SERVICE_NAME));
      }
      if (!Character.isLetter(service.charAt(0))) {
        return Optional.of(
            "metadata.name: with the controller, the name must begin with a letter, because service"
                + " \"%s\" must".formatted(service));
      }
    }
    return Optional.empty();
  }
}
