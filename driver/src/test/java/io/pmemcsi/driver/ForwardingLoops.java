package io.pmemcsi.driver;

import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Forwards to the kernel; tests override single calls. */
class ForwardingLoops implements LoopCalls {

  private final KernelLoops kernel = new KernelLoops();

  @Override
  public Path attach(Path file, long offset) throws IOException {
    return kernel.attach(file, offset);
  }

  @Override
  public void detach(Path device) throws IOException {
    kernel.detach(device);
  }

  @Override
  public void refreshSize(Path device) throws IOException {
    kernel.refreshSize(device);
  }

  @Override
  public Optional<Status> status(Path device) throws IOException {
    return kernel.status(device);
  }

  @Override
  public List<Path> attached() throws IOException {
    return kernel.attached();
  }
}
