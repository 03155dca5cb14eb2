package io.github.elasticron.javapeer;

import java.util.List;
import org.apache.shardingsphere.elasticjob.api.ShardingContext;
import org.apache.shardingsphere.elasticjob.dataflow.job.DataflowJob;

/** The code of all dataflow jobs. A fetch finds as many batches as the test feeds. */
public final class PeerDataflow implements DataflowJob<String> {

    private final Work work;

    PeerDataflow(final Work work) {
        this.work = work;
    }

    @Override
    public List<String> fetchData(final ShardingContext context) {
        work.tell(Begin.of("fetch", context));
        return work.fetch(context.getJobName()) ? List.of("a batch") : List.of();
    }

    @Override
    public void processData(final ShardingContext context, final List<String> data) {
        work.run(Begin.of("begin", context));
    }
}
