package io.github.elasticron.javapeer;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A Java process in a cluster, driven over standard input and output: a line in is a request, a line
 * out is an answer or an event, each a JSON object. Requests are carried out side by side, as some of
 * them wait as long as the library waits. When the input ends the process halts, so that none outlives
 * the test that started it.
 */
public final class Main {

    private static final Gson GSON = new Gson();

    public static void main(final String[] args) throws Exception {
        Out out = new Out(new PrintStream(System.out, true, StandardCharsets.UTF_8));
        System.setOut(System.err); // scripts and stray prints must not mix with the lines
        if (args.length > 0) {
            Address.pretend(args[0]);
        }
        Peer peer = new Peer(out);
        ExecutorService requests = Executors.newCachedThreadPool();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        out.event(Event.of("ready"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Request request = GSON.fromJson(line, Request.class);
            requests.execute(() -> answer(peer, out, request));
        }
        Runtime.getRuntime().halt(0);
    }

    private static void answer(final Peer peer, final Out out, final Request request) {
        try {
            out.answer(request.id, peer.carryOut(request), null);
        } catch (final Throwable fault) { // the test decides what a fault means
            out.answer(request.id, null, String.valueOf(fault));
        }
    }

    private Main() {
    }
}
