package io.github.elasticron.javapeer;

import com.google.gson.Gson;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.Map;

/** Writes lines, each whole. */
final class Out {

    private final Gson gson = new Gson();
    private final PrintStream lines;

    Out(final PrintStream lines) {
        this.lines = lines;
    }

    synchronized void event(final Event event) {
        lines.println(gson.toJson(event));
    }

    synchronized void answer(final long id, final Object result, final String fault) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("answer", id);
        answer.put("result", result);
        answer.put("fault", fault);
        lines.println(gson.toJson(answer));
    }
}
