// Package migrate holds tests that run the command elasticron migrate, as a process, from a real
// ZooKeeper to a real etcd. The trees are written node by node as Elastic-Job-Lite 2.1.5 and ElasticJob
// 3.0.5 leave them.
package migrate
