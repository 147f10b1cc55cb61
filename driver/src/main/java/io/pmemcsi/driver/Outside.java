package io.pmemcsi.driver;

import io.pmemcsi.driver.command.CommandRunner;
import io.pmemcsi.driver.mount.MountCalls;
import io.pmemcsi.driver.volume.StateFiles;

/** All ways by which the driver changes anything outside of itself, apart from device managers. */
record Outside(CommandRunner commands, StateFiles files, MountCalls mounts) {}
