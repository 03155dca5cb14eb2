package io.github.elasticron.javapeer;

import java.lang.reflect.Field;
import java.net.ServerSocket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.shardingsphere.elasticjob.api.ElasticJob;
import org.apache.shardingsphere.elasticjob.lite.api.bootstrap.impl.OneOffJobBootstrap;
import org.apache.shardingsphere.elasticjob.lite.api.bootstrap.impl.ScheduleJobBootstrap;
import org.apache.shardingsphere.elasticjob.lite.internal.snapshot.SnapshotService;
import org.apache.shardingsphere.elasticjob.lite.internal.storage.JobNodeStorage;
import org.apache.shardingsphere.elasticjob.reg.zookeeper.ZookeeperConfiguration;
import org.apache.shardingsphere.elasticjob.reg.zookeeper.ZookeeperRegistryCenter;

/** The process: it may take part in several jobs, each in a namespace and a session of its own. */
final class Peer {

    private final Work work;
    private final Map<String, ZookeeperRegistryCenter> centers = new ConcurrentHashMap<>();
    private final Map<String, OneOffJobBootstrap> oneOffs = new ConcurrentHashMap<>();

    Peer(final Out out) {
        work = new Work(out);
        PeerListener.setWork(work);
    }

    Object carryOut(final Request request) throws Exception {
        switch (request.op) {
            case "start":
                start(request);
                return Belief.of(centers.get(request.spec.name), request.spec.name);
            case "execute":
                oneOffs.get(request.job).execute();
                return null;
            case "last":
                work.last(request.job, request.hold, request.millis);
                return null;
            case "release":
                work.release(request.job);
                return null;
            case "feed":
                work.feed(request.job, request.item);
                return null;
            case "belief":
                return Belief.of(centers.get(request.job), request.job);
            case "latch":
                latch(request);
                return null;
            case "snapshot":
                return snapshot(request);
            case "exit":
                new Thread(() -> System.exit(0)).start();
                return null;
            default:
                return new Console(request).carryOut(request);
        }
    }

    private void start(final Request request) {
        JobSpec spec = request.spec;
        ZookeeperConfiguration configuration = new ZookeeperConfiguration(request.servers, request.namespace);
        configuration.setDigest(request.digest);
        configuration.setSessionTimeoutMilliseconds(request.sessionTimeout);
        configuration.setConnectionTimeoutMilliseconds(request.sessionTimeout);
        ZookeeperRegistryCenter center = new ZookeeperRegistryCenter(configuration);
        center.init();
        centers.put(spec.name, center);
        ElasticJob code = spec.type.equals("DATAFLOW") ? new PeerDataflow(work) : new PeerJob(work);
        if (spec.cron.isEmpty()) {
            oneOffs.put(spec.name, spec.word().isEmpty()
                    ? new OneOffJobBootstrap(center, code, spec.configuration())
                    : new OneOffJobBootstrap(center, spec.word(), spec.configuration()));
            return;
        }
        ScheduleJobBootstrap job = spec.word().isEmpty()
                ? new ScheduleJobBootstrap(center, code, spec.configuration())
                : new ScheduleJobBootstrap(center, spec.word(), spec.configuration());
        job.schedule();
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

    /** Has the library's snapshot service listen for dumps of a job's registry, and returns on which port. */
    private int snapshot(final Request request) throws ReflectiveOperationException {
        SnapshotService service = new SnapshotService(centers.get(request.job), 0);
        service.listen();
        Field socket = SnapshotService.class.getDeclaredField("serverSocket");
        socket.setAccessible(true);
        return ((ServerSocket) socket.get(service)).getLocalPort();
    }
}
