package io.pmemcsi.driver;

import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.loop.LoopCalls;
import io.pmemcsi.driver.linux.mount.MountCalls;
import io.pmemcsi.driver.state.StateFiles;

/** All ways by which the driver changes anything outside of itself, apart from device managers. */
record HostAccess(CommandRunner commands, StateFiles files, MountCalls mounts, LoopCalls loops) {}
