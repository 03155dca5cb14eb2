package io.github.elasticron.javapeer;

import java.util.List;
import org.apache.shardingsphere.elasticjob.infra.pojo.JobConfigurationPOJO;
import org.apache.shardingsphere.elasticjob.infra.yaml.YamlEngine;
import org.apache.shardingsphere.elasticjob.lite.internal.config.ConfigurationService;
import org.apache.shardingsphere.elasticjob.lite.internal.election.LeaderService;
import org.apache.shardingsphere.elasticjob.lite.internal.schedule.JobRegistry;
import org.apache.shardingsphere.elasticjob.lite.internal.sharding.ShardingService;
import org.apache.shardingsphere.elasticjob.reg.base.CoordinatorRegistryCenter;

/** What this instance takes to be so of a job. */
final class Belief {

    String instance;
    boolean shutdown;
    boolean leader;
    List<Integer> items;
    String config; // as the library reads it, written again by the library

    static Belief of(final CoordinatorRegistryCenter center, final String job) {
        Belief belief = new Belief();
        belief.shutdown = JobRegistry.getInstance().isShutdown(job);
        if (belief.shutdown) { // the library has forgotten the job
            return belief;
        }
        belief.instance = JobRegistry.getInstance().getJobInstance(job).getJobInstanceId();
        belief.leader = new LeaderService(center, job).isLeader();
        belief.items = new ShardingService(center, job).getLocalShardingItems();
        belief.config = YamlEngine.marshal(
                JobConfigurationPOJO.fromJobConfiguration(new ConfigurationService(center, job).load(false)));
        return belief;
    }
}
