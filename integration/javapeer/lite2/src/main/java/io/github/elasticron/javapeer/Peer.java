package io.github.elasticron.javapeer;

import com.dangdang.ddframe.job.lite.api.JobScheduler;
import com.dangdang.ddframe.job.lite.config.LiteJobConfiguration;
import com.dangdang.ddframe.job.lite.internal.storage.JobNodeStorage;
import com.dangdang.ddframe.job.reg.zookeeper.ZookeeperConfiguration;
import com.dangdang.ddframe.job.reg.zookeeper.ZookeeperRegistryCenter;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** The process: it may take part in several jobs, each in a namespace and a session of its own. */
final class Peer {

    private final Work work;
    private final Map<String, ZookeeperRegistryCenter> centers = new ConcurrentHashMap<>();

    Peer(final Out out) {
        work = new Work(out);
        PeerJob.setWork(work);
    }

    Object carryOut(final Request request) {
        switch (request.op) {
            case "start":
                start(request);
                return Belief.of(centers.get(request.spec.name), request.spec.name);
            case "last":
                work.last(request.job, request.hold, request.millis);
                return null;
            case "release":
                work.release(request.job);
                return null;
            case "belief":
                return Belief.of(centers.get(request.job), request.job);
            case "latch":
                latch(request);
                return null;
            case "exit":
                new Thread(() -> System.exit(0)).start();
                return null;
            default:
                return new Console(request).carryOut(request);
        }
    }

    private void start(final Request request) {
        LiteJobConfiguration job = request.spec.configuration();
        ZookeeperConfiguration configuration = new ZookeeperConfiguration(request.servers, request.namespace);
        configuration.setDigest(request.digest);
        configuration.setSessionTimeoutMilliseconds(request.sessionTimeout);
        configuration.setConnectionTimeoutMilliseconds(request.sessionTimeout);
        ZookeeperRegistryCenter center = new ZookeeperRegistryCenter(configuration);
        center.init();
        centers.put(request.spec.name, center);
        new JobScheduler(center, job).init();
    }

    /** Takes a latch as the library does, which holds it for as long as its callback runs. */
    private void latch(final Request request) {
        JobNodeStorage storage = new JobNodeStorage(centers.get(request.job), request.job);
        CountDownLatch held = new CountDownLatch(1);
        new Thread(() -> storage.executeInLeader(request.text, () -> {
            held.countDown();
            work.pass("latch");
        })).start();
        try {
            held.await();
        } catch (final InterruptedException fault) {
            throw new IllegalStateException(fault);
        }
    }
}
