package io.github.elasticron.javapeer;

import com.google.gson.Gson;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.shardingsphere.elasticjob.infra.pojo.JobConfigurationPOJO;
import org.apache.shardingsphere.elasticjob.lite.lifecycle.api.JobAPIFactory;
import org.apache.shardingsphere.elasticjob.lite.lifecycle.api.JobConfigurationAPI;
import org.apache.shardingsphere.elasticjob.lite.lifecycle.api.JobOperateAPI;
import org.apache.shardingsphere.elasticjob.lite.lifecycle.api.ShardingOperateAPI;
import org.apache.shardingsphere.elasticjob.lite.lifecycle.domain.ServerBriefInfo;

/** What an operator does in the Java console. */
final class Console {

    private final String servers;
    private final String namespace;
    private final String digest;

    Console(final Request request) {
        servers = request.servers;
        namespace = request.namespace;
        digest = request.digest;
    }

    Object carryOut(final Request request) throws IOException {
        switch (request.op) {
            case "console-trigger":
                operate().trigger(request.job);
                return null;
            case "console-disable":
                operate().disable(request.job, request.ip);
                return null;
            case "console-enable":
                operate().enable(request.job, request.ip);
                return null;
            case "console-shutdown":
                operate().shutdown(request.job, request.ip);
                return null;
            case "console-remove":
                operate().remove(request.job, request.ip);
                return null;
            case "console-disable-item":
                items().disable(request.job, String.valueOf(request.item));
                return null;
            case "console-enable-item":
                items().enable(request.job, String.valueOf(request.item));
                return null;
            case "console-settings":
                return settings().getJobConfiguration(request.job);
            case "console-update-settings":
                settings().updateJobConfiguration(new Gson().fromJson(request.text, JobConfigurationPOJO.class));
                return null;
            case "console-remove-settings":
                settings().removeJobConfiguration(request.job);
                return null;
            case "console-dump":
                return operate().dump(request.job, request.ip, request.item);
            case "console-jobs":
                return JobAPIFactory.createJobStatisticsAPI(servers, namespace, digest).getAllJobsBriefInfo();
            case "console-items":
                return JobAPIFactory.createShardingStatisticsAPI(servers, namespace, digest).getShardingInfo(request.job);
            case "console-servers":
                return servers();
            default:
                throw new IllegalArgumentException("unknown request " + request.op);
        }
    }

    private List<Map<String, Object>> servers() {
        List<Map<String, Object>> result = new ArrayList<>();
        for (ServerBriefInfo each : JobAPIFactory.createServerStatisticsAPI(servers, namespace, digest).getAllServersBriefInfo()) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("serverIp", each.getServerIp());
            line.put("instances", each.getInstancesNum());
            line.put("jobs", each.getJobsNum());
            line.put("disabledJobs", each.getDisabledJobsNum().intValue());
            result.add(line);
        }
        return result;
    }

    private JobOperateAPI operate() {
        return JobAPIFactory.createJobOperateAPI(servers, namespace, digest);
    }

    private ShardingOperateAPI items() {
        return JobAPIFactory.createShardingOperateAPI(servers, namespace, digest);
    }

    private JobConfigurationAPI settings() {
        return JobAPIFactory.createJobConfigurationAPI(servers, namespace, digest);
    }
}
