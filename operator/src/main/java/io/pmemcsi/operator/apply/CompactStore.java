package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;

/**
 * A cache that stores objects as compressed JSON, in a fraction of the memory of Java objects. For
 * kinds with thousands of objects that are read seldom.
 */
public final class CompactStore<V extends HasMetadata> implements ItemStore<V> {

  private final Map<String, byte[]> items = new ConcurrentHashMap<>();
  private final Class<V> kind;
  private final KubernetesSerialization serialization;

  public CompactStore(Class<V> kind, KubernetesSerialization serialization) {
    this.kind = kind;
    this.serialization = serialization;
  }

  @Override
  public String getKey(V object) {
    return Cache.metaNamespaceKeyFunc(object);
  }

  @Override
  public @Nullable V put(String key, V object) {
    return unpack(items.put(key, pack(object)));
  }

  @Override
  public @Nullable V remove(String key) {
    return unpack(items.remove(key));
  }

  @Override
  public Stream<String> keySet() {
    return items.keySet().stream();
  }

  @Override
  public Stream<V> values() {
    return items.values().stream().map(this::read);
  }

  @Override
  public int size() {
    return items.size();
  }

  @Override
  public @Nullable V get(String key) {
    return unpack(items.get(key));
  }

  private byte[] pack(V object) {
    var deflater = new Deflater(Deflater.BEST_SPEED);
    var bytes = new ByteArrayOutputStream();
    try (var out = new DeflaterOutputStream(bytes, deflater)) {
      out.write(serialization.asJson(object).getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot compress an object in memory", e);
    } finally {
      deflater.end();
    }
    return bytes.toByteArray();
  }

  private @Nullable V unpack(byte @Nullable [] packed) {
    return packed == null ? null : read(packed);
  }

  private V read(byte[] packed) {
    try (var in = new InflaterInputStream(new ByteArrayInputStream(packed))) {
      return serialization.unmarshal(new String(in.readAllBytes(), StandardCharsets.UTF_8), kind);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot decompress an object in memory", e);
    }
  }
}
