package io.pmemcsi.driver;

import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.loop.LoopCalls;
import io.pmemcsi.driver.linux.mount.MountCalls;
import io.pmemcsi.driver.state.StateFiles;

/** All ways by which the driver changes the node; tests inject crashes and failures here. */
record HostAccess(CommandRunner commands, StateFiles files, MountCalls mounts, LoopCalls loops) {}
