package io.pmemcsi.driver.csi;

import static io.pmemcsi.driver.csi.CsiStatusException.invalid;
import static io.pmemcsi.driver.csi.GrpcResponder.respond;

import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeExpandVolumeResponse;
import csi.v1.NodeGetCapabilitiesRequest;
import csi.v1.NodeGetCapabilitiesResponse;
import csi.v1.NodeGetInfoRequest;
import csi.v1.NodeGetInfoResponse;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodeGetVolumeStatsResponse;
import csi.v1.NodeGrpc;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodePublishVolumeResponse;
import csi.v1.NodeServiceCapability;
import csi.v1.NodeServiceCapability.RPC;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeStageVolumeResponse;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnpublishVolumeResponse;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.NodeUnstageVolumeResponse;
import csi.v1.VolumeCondition;
import csi.v1.VolumeUsage;
import io.grpc.stub.StreamObserver;
import io.pmemcsi.driver.health.Problem;
import io.pmemcsi.driver.node.Access;
import io.pmemcsi.driver.node.Expansion;
import io.pmemcsi.driver.node.Publishing;
import io.pmemcsi.driver.node.Staging;
import io.pmemcsi.driver.node.Statistics;
import io.pmemcsi.driver.volume.ParameterSource;
import io.pmemcsi.driver.volume.SizeRange;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The CSI node service: volumes for pods on this node. */
public final class NodeService extends NodeGrpc.NodeImplBase {

  private final NodeIdentity node;
  private final Staging staging;
  private final Publishing publishing;
  private final Statistics statistics;
  private final Expansion expansion;
  private final boolean expandable;

  /**
   * Serves what the parts below offer.
   *
   * @param expandable whether volumes of this device mode can be expanded
   */
  public NodeService(
      NodeIdentity node,
      Staging staging,
      Publishing publishing,
      Statistics statistics,
      Expansion expansion,
      boolean expandable) {
    this.node = node;
    this.staging = staging;
    this.publishing = publishing;
    this.statistics = statistics;
    this.expansion = expansion;
    this.expandable = expandable;
  }

  @Override
  public void nodeGetInfo(
      NodeGetInfoRequest request, StreamObserver<NodeGetInfoResponse> observer) {
    respond(
        observer,
        () ->
            NodeGetInfoResponse.newBuilder()
                .setNodeId(node.nodeId())
                .setAccessibleTopology(node.topology())
                .build());
  }

  @Override
  public void nodeGetCapabilities(
      NodeGetCapabilitiesRequest request, StreamObserver<NodeGetCapabilitiesResponse> observer) {
    Stream<RPC.Type> always =
        Stream.of(
            RPC.Type.STAGE_UNSTAGE_VOLUME,
            RPC.Type.GET_VOLUME_STATS,
            RPC.Type.VOLUME_CONDITION,
            RPC.Type.SINGLE_NODE_MULTI_WRITER);
    respond(
        observer,
        () ->
            NodeGetCapabilitiesResponse.newBuilder()
                .addAllCapabilities(
                    Stream.concat(
                            always, expandable ? Stream.of(RPC.Type.EXPAND_VOLUME) : Stream.of())
                        .map(NodeService::capability)
                        .toList())
                .build());
  }

  @Override
  public void nodeStageVolume(
      NodeStageVolumeRequest request, StreamObserver<NodeStageVolumeResponse> observer) {
    respond(
        observer,
        () -> {
          String id = Requests.volumeId(request.getVolumeId());
          Path path = Requests.mountPoint("staging_target_path", request.getStagingTargetPath());
          Access access =
              Requests.access(request.hasVolumeCapability(), request.getVolumeCapability());
          Requests.parameters(ParameterSource.PERSISTENT_CONTEXT, request.getVolumeContextMap());
          staging.stage(id, path, access);
          return NodeStageVolumeResponse.getDefaultInstance();
        });
  }

  @Override
  public void nodeUnstageVolume(
      NodeUnstageVolumeRequest request, StreamObserver<NodeUnstageVolumeResponse> observer) {
    respond(
        observer,
        () -> {
          staging.unstage(
              Requests.volumeId(request.getVolumeId()),
              Requests.mountPoint("staging_target_path", request.getStagingTargetPath()));
          return NodeUnstageVolumeResponse.getDefaultInstance();
        });
  }

  @Override
  public void nodePublishVolume(
      NodePublishVolumeRequest request, StreamObserver<NodePublishVolumeResponse> observer) {
    respond(
        observer,
        () -> {
          String id = Requests.volumeId(request.getVolumeId());
          Path target = Requests.mountPoint("target_path", request.getTargetPath());
          Access access =
              Requests.access(request.hasVolumeCapability(), request.getVolumeCapability());
          Map<String, String> context = request.getVolumeContextMap();
          Optional<Path> staged =
              Requests.optionalMountPoint("staging_target_path", request.getStagingTargetPath());
          boolean readOnly = request.getReadonly() || isReaderOnly(request);
          if (isEphemeral(id, staged, context)) {
            publishing.publishEphemeral(
                id,
                target,
                access,
                readOnly,
                Requests.parameters(ParameterSource.EPHEMERAL_CONTEXT, context));
          } else {
            Requests.parameters(ParameterSource.PERSISTENT_CONTEXT, context);
            publishing.publish(id, staged, target, access, readOnly);
          }
          return NodePublishVolumeResponse.getDefaultInstance();
        });
  }

  @Override
  public void nodeUnpublishVolume(
      NodeUnpublishVolumeRequest request, StreamObserver<NodeUnpublishVolumeResponse> observer) {
    respond(
        observer,
        () -> {
          publishing.unpublish(
              Requests.volumeId(request.getVolumeId()),
              Requests.mountPoint("target_path", request.getTargetPath()));
          return NodeUnpublishVolumeResponse.getDefaultInstance();
        });
  }

  @Override
  public void nodeGetVolumeStats(
      NodeGetVolumeStatsRequest request, StreamObserver<NodeGetVolumeStatsResponse> observer) {
    respond(
        observer,
        () -> {
          Statistics.Report report =
              statistics.of(
                  Requests.volumeId(request.getVolumeId()),
                  Requests.volumePath(request.getVolumePath()));
          Statistics.Usage usage = report.usage();
          NodeGetVolumeStatsResponse.Builder response =
              NodeGetVolumeStatsResponse.newBuilder()
                  .setVolumeCondition(condition(report.problems()))
                  .addUsage(
                      VolumeUsage.newBuilder()
                          .setUnit(VolumeUsage.Unit.BYTES)
                          .setAvailable(usage.availableBytes())
                          .setTotal(usage.totalBytes())
                          .setUsed(usage.usedBytes()));
          usage
              .inodes()
              .ifPresent(
                  inodes ->
                      response.addUsage(
                          VolumeUsage.newBuilder()
                              .setUnit(VolumeUsage.Unit.INODES)
                              .setAvailable(inodes.available())
                              .setTotal(inodes.total())
                              .setUsed(inodes.total() - inodes.available())));
          return response.build();
        });
  }

  @Override
  public void nodeExpandVolume(
      NodeExpandVolumeRequest request, StreamObserver<NodeExpandVolumeResponse> observer) {
    if (!expandable) {
      super.nodeExpandVolume(request, observer);
      return;
    }
    respond(
        observer,
        () -> {
          String id = Requests.volumeId(request.getVolumeId());
          Path path = Requests.volumePath(request.getVolumePath());
          SizeRange size = Requests.size(request.hasCapacityRange(), request.getCapacityRange());
          return NodeExpandVolumeResponse.newBuilder()
              .setCapacityBytes(expansion.expand(id, path, size))
              .build();
        });
  }

  private boolean isEphemeral(String id, Optional<Path> staged, Map<String, String> context) {
    try {
      Optional<Boolean> flag = ParameterSource.ephemeralFlag(context);
      // Kubernetes before 1.16 does not say it
      return flag.orElseGet(
          () ->
              staged.isEmpty()
                  && !ParameterSource.wasProvisioned(context)
                  && context.containsKey("size")
                  && !publishing.isKnownPersistent(id));
    } catch (IllegalArgumentException e) {
      throw invalid("volume_context: " + e.getMessage());
    }
  }

  private static boolean isReaderOnly(NodePublishVolumeRequest request) {
    return switch (request.getVolumeCapability().getAccessMode().getMode()) {
      case SINGLE_NODE_READER_ONLY -> true;
      case UNKNOWN,
          SINGLE_NODE_WRITER,
          SINGLE_NODE_SINGLE_WRITER,
          SINGLE_NODE_MULTI_WRITER,
          MULTI_NODE_READER_ONLY,
          MULTI_NODE_SINGLE_WRITER,
          MULTI_NODE_MULTI_WRITER,
          UNRECOGNIZED ->
          false;
    };
  }

  private static VolumeCondition condition(List<Problem> problems) {
    return VolumeCondition.newBuilder()
        .setAbnormal(!problems.isEmpty())
        .setMessage(
            problems.isEmpty()
                ? "no problem is known"
                : problems.stream().map(Problem::text).collect(Collectors.joining("; ")))
        .build();
  }

  private static NodeServiceCapability capability(RPC.Type type) {
    return NodeServiceCapability.newBuilder().setRpc(RPC.newBuilder().setType(type)).build();
  }
}
