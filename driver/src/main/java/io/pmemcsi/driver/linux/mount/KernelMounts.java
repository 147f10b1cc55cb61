package io.pmemcsi.driver.linux.mount;

import io.pmemcsi.driver.linux.libc.Descriptor;
import io.pmemcsi.driver.linux.libc.MountSyscalls;
import java.io.IOException;
import java.nio.file.Path;

/** The calls of the running kernel. */
public final class KernelMounts implements MountCalls {

  @Override
  public void mount(Path source, Path target, String type, MountOptions options)
      throws IOException {
    MountSyscalls.mount(source, target, type, options.flags(), options.data());
  }

  @Override
  public void bind(Path source, Path target, MountAttributes attributes) throws IOException {
    try (Descriptor mount = MountSyscalls.cloneTree(source)) {
      MountSyscalls.setAttributes(mount, attributes.set(), attributes.clear());
      MountSyscalls.attach(mount, target);
    }
  }

  @Override
  public boolean freeze(Path mountPoint) throws IOException {
    return MountSyscalls.freeze(mountPoint);
  }

  @Override
  public void thaw(Path mountPoint) throws IOException {
    MountSyscalls.thaw(mountPoint);
  }

  @Override
  public void unmount(Path target) throws IOException {
    MountSyscalls.unmount(target);
  }
}
