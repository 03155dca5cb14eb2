package io.github.elasticron.javapeer;

import com.dangdang.ddframe.job.config.JobCoreConfiguration;
import com.dangdang.ddframe.job.config.JobTypeConfiguration;
import com.dangdang.ddframe.job.config.script.ScriptJobConfiguration;
import com.dangdang.ddframe.job.config.simple.SimpleJobConfiguration;
import com.dangdang.ddframe.job.lite.config.LiteJobConfiguration;

/** A job as a Java application declares it. */
final class JobSpec {

    String name;
    String cron;
    int total;
    String itemParameters = "";
    String jobParameter = "";
    String strategy = "";
    String script; // makes it a script job
    boolean failover;
    boolean misfire = true;
    boolean monitorExecution = true;
    boolean disabled;
    boolean overwrite;

    LiteJobConfiguration configuration() {
        JobCoreConfiguration core = JobCoreConfiguration.newBuilder(name, cron, total)
                .shardingItemParameters(itemParameters).jobParameter(jobParameter).failover(failover).misfire(misfire).build();
        JobTypeConfiguration type = script == null
                ? new SimpleJobConfiguration(core, PeerJob.class.getCanonicalName())
                : new ScriptJobConfiguration(core, script);
        return LiteJobConfiguration.newBuilder(type).monitorExecution(monitorExecution)
                .jobShardingStrategyClass(strategy).disabled(disabled).overwrite(overwrite).build();
    }
}
