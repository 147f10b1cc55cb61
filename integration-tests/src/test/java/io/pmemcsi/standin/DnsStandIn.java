package io.pmemcsi.standin;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Stand-in for the DNS server of a cluster: answers for the names of services, which are its
 * arguments in the form {@code NAME=ADDRESS}.
 */
final class DnsStandIn {

  private static final int PORT = 53;
  private static final int HEADER = 12;
  private static final int QUESTION_END = 5;
  private static final int MAXIMUM = 512;
  private static final short ADDRESS = 1;
  private static final short INTERNET = 1;
  private static final short POINTER_TO_QUESTION = (short) 0xC00C;
  private static final short FOUND = (short) 0x8180;
  private static final short NO_SUCH_NAME = (short) 0x8183;

  private DnsStandIn() {}

  public static void main(String... services) throws IOException {
    Map<String, String> addresses = Arguments.parse(services).values();
    // a resolver ignores answers from another address of the node
    InetSocketAddress own =
        new InetSocketAddress(Objects.requireNonNull(System.getenv("HOST_IP")), PORT);
    try (DatagramSocket socket = new DatagramSocket(own)) {
      System.out.println("answering for " + addresses);
      while (true) {
        DatagramPacket packet = new DatagramPacket(new byte[MAXIMUM], MAXIMUM);
        socket.receive(packet);
        ByteBuffer query = ByteBuffer.wrap(packet.getData(), 0, packet.getLength());
        byte[] name = name(query);
        packet.setData(answer(query, name.length, addresses.get(text(name))));
        socket.send(packet);
      }
    }
  }

  /** The labels of the first question, as they are in the packet. */
  private static byte[] name(ByteBuffer query) {
    int end = HEADER;
    while (query.get(end) != 0) {
      end += query.get(end) + 1;
    }
    byte[] name = new byte[end - HEADER];
    query.get(HEADER, name);
    return name;
  }

  private static String text(byte[] name) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < name.length; i += name[i] + 1) {
      text.append(text.isEmpty() ? "" : ".")
          .append(new String(name, i + 1, name[i], StandardCharsets.US_ASCII));
    }
    return text.toString().toLowerCase(Locale.ROOT);
  }

  /** The question without what may follow it, then the address if that was asked for. */
  private static byte[] answer(ByteBuffer query, int nameLength, @Nullable String address)
      throws IOException {
    int end = HEADER + nameLength + QUESTION_END;
    boolean answered = address != null && query.getShort(HEADER + nameLength + 1) == ADDRESS;
    ByteBuffer answer = ByteBuffer.allocate(MAXIMUM);
    answer.putShort(query.getShort(0));
    answer.putShort(address == null ? NO_SUCH_NAME : FOUND);
    answer.putShort((short) 1).putShort((short) (answered ? 1 : 0)).putInt(0);
    answer.put(query.slice(HEADER, end - HEADER));
    if (answered) {
      answer.putShort(POINTER_TO_QUESTION).putShort(ADDRESS).putShort(INTERNET).putInt(1);
      byte[] bytes = InetAddress.getByName(address).getAddress();
      answer.putShort((short) bytes.length).put(bytes);
    }
    byte[] sent = new byte[answer.position()];
    answer.get(0, sent);
    return sent;
  }
}
