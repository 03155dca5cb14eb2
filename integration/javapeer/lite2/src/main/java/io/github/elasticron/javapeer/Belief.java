package io.github.elasticron.javapeer;

import com.dangdang.ddframe.job.lite.internal.config.LiteJobConfigurationGsonFactory;
import com.dangdang.ddframe.job.lite.internal.election.LeaderService;
import com.dangdang.ddframe.job.lite.internal.schedule.JobRegistry;
import com.dangdang.ddframe.job.lite.internal.sharding.ShardingService;
import com.dangdang.ddframe.job.reg.base.CoordinatorRegistryCenter;
import java.util.List;

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
        belief.config = LiteJobConfigurationGsonFactory.toJson(
                LiteJobConfigurationGsonFactory.fromJson(center.getDirectly("/" + job + "/config")));
        return belief;
    }
}
