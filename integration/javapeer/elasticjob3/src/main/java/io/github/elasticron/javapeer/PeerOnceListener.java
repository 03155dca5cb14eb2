package io.github.elasticron.javapeer;

import org.apache.shardingsphere.elasticjob.infra.listener.ShardingContexts;
import org.apache.shardingsphere.elasticjob.lite.api.listener.AbstractDistributeOnceElasticJobListener;

/** A listener that tells once of what all items begin, and once of what all end, in the whole cluster. */
public final class PeerOnceListener extends AbstractDistributeOnceElasticJobListener {

    private static final long PATIENCE = 5_000;

    public PeerOnceListener() {
        super(PATIENCE, PATIENCE);
    }

    @Override
    public void doBeforeJobExecutedAtLastStarted(final ShardingContexts contexts) {
        PeerListener.tell("before-once", contexts);
    }

    @Override
    public void doAfterJobExecutedAtLastCompleted(final ShardingContexts contexts) {
        PeerListener.tell("after-once", contexts);
    }

    @Override
    public String getType() {
        return "PEER_ONCE";
    }
}
