package io.pmemcsi.base.http;

/**
 * Limits of the JDK's HTTP server. Its classes read them once: call this before the first server is
 * created.
 */
public final class ServerTuning {

  private static final String MAX_HEADER_SIZE = "sun.net.httpserver.maxReqHeaderSize";

  private ServerTuning() {}

  public static void apply() {
    // without this a keep-alive answer can wait 40 ms for the peer's delayed acknowledgement
    System.setProperty("sun.net.httpserver.nodelay", "true");
    System.setProperty("sun.net.httpserver.maxReqTime", "10");
    System.setProperty("sun.net.httpserver.maxRspTime", "60");
    // longer than Go's clients keep an idle connection: if the server closed it first, a request
    // that
    // is on its way would be lost
    System.setProperty("sun.net.httpserver.idleInterval", "120");
    // far above the limit of HttpEndpoint, so that a request with too many headers gets an answer
    System.setProperty("sun.net.httpserver.maxReqHeaders", "200000");
    if (System.getProperty(MAX_HEADER_SIZE) == null) {
      limitHeaders(16 << 20);
    }
  }

  /** Limits the headers of a request, instead of the usual limit; call this before all else. */
  public static void limitHeaders(int bytes) {
    System.setProperty(MAX_HEADER_SIZE, Integer.toString(bytes));
  }
}
