package io.github.elasticron.javapeer;

/** What a test asks for. Which fields matter depends on what it asks; see {@link Peer#carryOut}. */
final class Request {

    long id;
    String op;

    String servers;
    String namespace;
    String digest;
    int sessionTimeout;

    String job;
    String ip;
    int item;
    JobSpec spec;

    boolean hold;
    long millis;
    String text;
}
