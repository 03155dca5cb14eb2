// Package mixed holds tests of clusters that Go and Java instances share: schedulers of this repository
// over registry/zkcompat, and real Elastic-Job-Lite 2.1.5 (package javapeer), on one real ZooKeeper.
// docs/java.md says what holds in such a cluster; each of its rows names a test here.
//
// TestALongRun has processes of its own, does what a seed decides to them, and counts what comes of it: the files
// that begin with long. In make test it takes one round; it goes on for as long as it is told:
//
//	go test ./integration/mixed -run '^TestALongRun$' -v -mixed.duration=15m -mixed.seed=42 -artifacts
//
// All other tests but those that kill a Java process share two of them, which take part in the jobs of all
// tests at once, as applications with many jobs do. Every test has a namespace and a job of its own.
package mixed
