package io.pmemcsi.base.http;

/**
 * Limits of the JDK's HTTP server. Its classes read them once: call this before the first server is
 * created.
 */
public final class ServerTuning {

  private ServerTuning() {}

  public static void apply() {
    // without this a keep-alive answer can wait 40 ms for the peer's delayed acknowledgement
    System.setProperty("sun.net.httpserver.nodelay", "true");
    System.setProperty("sun.net.httpserver.maxReqTime", "30");
    System.setProperty("sun.net.httpserver.maxRspTime", "60");
    // far above the limit of HttpEndpoint, so that a request with too many headers gets an answer
    System.setProperty("sun.net.httpserver.maxReqHeaders", "200000");
    System.setProperty("sun.net.httpserver.maxReqHeaderSize", Integer.toString(16 << 20));
  }
}
