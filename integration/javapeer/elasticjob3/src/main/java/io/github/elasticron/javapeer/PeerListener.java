package io.github.elasticron.javapeer;

import org.apache.shardingsphere.elasticjob.infra.listener.ElasticJobListener;
import org.apache.shardingsphere.elasticjob.infra.listener.ShardingContexts;

/** A listener that tells of each round. The library makes the objects, so what they share is static. */
public final class PeerListener implements ElasticJobListener {

    private static volatile Work work;

    static void setWork(final Work work) {
        PeerListener.work = work;
    }

    static void tell(final String what, final ShardingContexts contexts) {
        Event event = Event.of(what);
        event.job = contexts.getJobName();
        event.task = contexts.getTaskId();
        event.total = contexts.getShardingTotalCount();
        event.jobParameter = contexts.getJobParameter();
        work.tell(event);
    }

    @Override
    public void beforeJobExecuted(final ShardingContexts contexts) {
        tell("before", contexts);
    }

    @Override
    public void afterJobExecuted(final ShardingContexts contexts) {
        tell("after", contexts);
    }

    @Override
    public String getType() {
        return "PEER";
    }
}
