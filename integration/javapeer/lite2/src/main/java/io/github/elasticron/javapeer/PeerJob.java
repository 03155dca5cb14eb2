package io.github.elasticron.javapeer;

import com.dangdang.ddframe.job.api.ShardingContext;
import com.dangdang.ddframe.job.api.simple.SimpleJob;

/** The code of all simple jobs. The library makes the objects, so what they share is static. */
public final class PeerJob implements SimpleJob {

    private static volatile Work work;

    static void setWork(final Work work) {
        PeerJob.work = work;
    }

    @Override
    public void execute(final ShardingContext context) {
        Event begin = Event.of("begin");
        begin.job = context.getJobName();
        begin.item = context.getShardingItem();
        begin.task = context.getTaskId();
        begin.total = context.getShardingTotalCount();
        begin.itemParameter = context.getShardingParameter();
        begin.jobParameter = context.getJobParameter();
        work.run(begin);
    }
}
