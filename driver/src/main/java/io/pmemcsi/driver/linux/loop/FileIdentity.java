package io.pmemcsi.driver.linux.loop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * What a file is, whatever it is called: the kernel shows the name of a backing file as the process
 * saw it that attached it, which after the replacement of a container is another one.
 */
public record FileIdentity(long device, long inode) {

  public static FileIdentity of(Path file) throws IOException {
    Map<String, Object> attributes = Files.readAttributes(file, "unix:dev,ino");
    return new FileIdentity(number(attributes, "dev"), number(attributes, "ino"));
  }

  private static long number(Map<String, Object> attributes, String name) {
    return attributes.get(name) instanceof Number number ? number.longValue() : 0;
  }
}
