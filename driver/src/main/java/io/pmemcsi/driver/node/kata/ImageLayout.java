package io.pmemcsi.driver.node.kata;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The first 2 MiB of an image file: an MBR with one partition for programs that read it as a disk,
 * and the kernel's {@code struct nd_pfn_sb} for the guest that maps it as persistent memory.
 */
public final class ImageLayout {

  /** Where the filesystem begins, and what the length of a file is rounded to. */
  public static final int HEADER_BYTES = 2 << 20;

  static final int PFN_OFFSET = 4096;
  static final int PFN_BYTES = 4096;

  private static final int SECTOR = 512;
  private static final int PARTITION = 446;
  private static final byte LINUX = (byte) 0x83;
  private static final int CHECKSUM = PFN_BYTES - 8;
  private static final int MODE_RAM = 1;

  private ImageLayout() {}

  /** All that stands before the filesystem in a file of the given length. */
  public static byte[] header(long fileBytes) {
    if (fileBytes <= HEADER_BYTES) {
      throw new IllegalArgumentException(
          "invalid image file size %d, must be larger than HeaderSize=%d"
              .formatted(fileBytes, HEADER_BYTES));
    }
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
    header.put(0, masterBootRecord(fileBytes));
    header.put(PFN_OFFSET, pfnSuperblock(HEADER_BYTES, HEADER_BYTES));
    return header.array();
  }

  /** One partition from the header to the end, as parted writes it. */
  static byte[] masterBootRecord(long fileBytes) {
    ByteBuffer mbr = ByteBuffer.allocate(SECTOR).order(ByteOrder.LITTLE_ENDIAN);
    long sectors = Math.min((fileBytes - HEADER_BYTES) / SECTOR, 0xffff_ffffL);
    mbr.position(PARTITION);
    mbr.put((byte) 0);
    mbr.put(new byte[] {(byte) 0xfe, (byte) 0xff, (byte) 0xff});
    mbr.put(LINUX);
    mbr.put(new byte[] {(byte) 0xfe, (byte) 0xff, (byte) 0xff});
    mbr.putInt(HEADER_BYTES / SECTOR);
    mbr.putInt((int) sectors);
    mbr.putShort(SECTOR - 2, (short) 0xaa55);
    return mbr.array();
  }

  /** What the nvdimm driver of the guest looks for. */
  static byte[] pfnSuperblock(long dataOffset, int align) {
    ByteBuffer block = ByteBuffer.allocate(PFN_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    block.put(0, "NVDIMM_PFN_INFO\0".getBytes(StandardCharsets.US_ASCII));
    block.putShort(54, (short) 2); // minor version
    block.putLong(56, dataOffset);
    block.putInt(72, MODE_RAM);
    block.putInt(84, align);
    block.putLong(CHECKSUM, fletcher64(block));
    return block.array();
  }

  private static long fletcher64(ByteBuffer block) {
    int low = 0;
    long high = 0;
    for (int i = 0; i < PFN_BYTES; i += Integer.BYTES) {
      low += block.getInt(i);
      high += Integer.toUnsignedLong(low);
    }
    return high << 32 | Integer.toUnsignedLong(low);
  }
}
