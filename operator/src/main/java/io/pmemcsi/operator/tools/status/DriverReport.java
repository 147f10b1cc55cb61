package io.pmemcsi.operator.tools.status;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What is known about one driver.
 *
 * @param resource kind, namespace where it has one, and name
 * @param problems what needs a human, the most important first
 * @param progress long work that is under way
 */
public record DriverReport(
    String driver,
    String resource,
    String phase,
    String reason,
    List<String> problems,
    List<String> progress,
    List<Condition> conditions,
    List<Component> components,
    List<NodeReport> nodes,
    List<VolumeReport> volumes,
    List<SnapshotReport> snapshots) {

  public DriverReport {
    problems = List.copyOf(problems);
    progress = List.copyOf(progress);
    conditions = List.copyOf(conditions);
    components = List.copyOf(components);
    nodes = List.copyOf(nodes);
    volumes = List.copyOf(volumes);
    snapshots = List.copyOf(snapshots);
  }

  /** A condition of the resource. */
  public record Condition(String type, String status, String message) {}

  /** A part of the driver, as the operator reports it. */
  public record Component(String name, String status, String reason) {}

  static List<DriverReport> of(ClusterData cluster) {
    return cluster.resources().stream()
        .map(ResourceStatus::new)
        .map(resource -> of(resource, cluster))
        .sorted(Comparator.comparing(DriverReport::driver).thenComparing(DriverReport::resource))
        .toList();
  }

  static DriverReport of(ResourceStatus resource, ClusterData cluster) {
    List<VolumeReport> volumes = VolumeReport.of(resource.driver(), cluster);
    List<SnapshotReport> snapshots = SnapshotReport.of(resource.driver(), volumes, cluster);
    var driverPods = new DriverPods(resource, cluster);
    List<NodeReport> nodes = NodeReport.of(resource, driverPods, volumes, snapshots, cluster);
    var work = new LongWork(resource, driverPods, volumes, snapshots, cluster);
    var problems = new ArrayList<>(resource.problems());
    problems.addAll(work.problems());
    nodes.stream().flatMap(node -> node.problem(driverPods).stream()).forEach(problems::add);
    volumes.stream().flatMap(volume -> volume.problem(cluster).stream()).forEach(problems::add);
    return new DriverReport(
        resource.driver(),
        resource.title(),
        resource.phase(),
        resource.reason(),
        problems,
        work.progress(),
        resource.conditions(),
        resource.components(),
        nodes,
        volumes,
        snapshots);
  }
}
