package io.github.elasticron.javapeer;

import org.apache.shardingsphere.elasticjob.api.ShardingContext;
import org.apache.shardingsphere.elasticjob.simple.job.SimpleJob;

/** The code of all simple jobs. */
public final class PeerJob implements SimpleJob {

    private final Work work;

    PeerJob(final Work work) {
        this.work = work;
    }

    @Override
    public void execute(final ShardingContext context) {
        work.run(Begin.of("begin", context));
    }
}
