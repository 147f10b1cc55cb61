package io.pmemcsi.operator.kinds.template;

import java.util.Optional;

/** Who has a name of the whole cluster already, by uid of the resource. */
interface NameOwners {

  NameOwners NOBODY =
      new NameOwners() {
        @Override
        public Optional<String> ofDriver(String name) {
          return Optional.empty();
        }

        @Override
        public Optional<String> ofStorageClass(String name) {
          return Optional.empty();
        }
      };

  Optional<String> ofDriver(String name);

  Optional<String> ofStorageClass(String name);
}
