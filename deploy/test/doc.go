// Package test holds the tests of what deploys elasticron: the chart, the units and the commands of docs/deploying.md
// are compared with the real program and, where there is one, with the real tool. It is in a module of its own, so that
// nobody who uses elasticron compiles Helm and Kubernetes.
package test
