package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.app.cli.ClassCachePages.Range;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClassCachePagesTest {

  @Test
  void onlyWhatTheFileStillHoldsIsGivenBack() {
    List<String> maps =
        List.of(
            "800001000-801308000 rw-p 00001000 fe:00 2220100     /program/aot/node.aot",
            "801308000-802f03000 r--p 01308000 fe:00 2220100     /program/aot/node.aot",
            "7f85b7e00000-7f85b80e3000 r--p 00000000 fe:00 328747     /jdk/lib/server/libjvm.so",
            "7f85a8400000-7f85a85b0000 rw-p 00000000 00:00 0 ");

    assertThat(ClassCachePages.mappedReadOnly(maps))
        .containsExactly(new Range(0x801308000L, 0x802f03000L));
  }
}
