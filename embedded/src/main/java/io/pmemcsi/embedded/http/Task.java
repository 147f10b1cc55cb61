package io.pmemcsi.embedded.http;

import io.pmemcsi.embedded.store.Store;

/** What a request asks for, not done yet: faults say when it is done, and whether it is. */
interface Task {
  /**
   * Does it.
   *
   * @param view what a read shows; a write is about the newest state whatever the view
   */
  Reply run(Store.At view);
}
