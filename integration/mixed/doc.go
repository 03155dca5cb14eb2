// Package mixed holds tests of clusters that Go and Java instances share: schedulers of this repository
// over registry/zkcompat, and real Elastic-Job-Lite 2.1.5 (package javapeer), on one real ZooKeeper.
// docs/java.md says what holds in such a cluster; each of its rows names a test here.
//
// All tests but those that kill a Java process share two of them, which take part in the jobs of all
// tests at once, as applications with many jobs do. Every test has a namespace and a job of its own.
package mixed
