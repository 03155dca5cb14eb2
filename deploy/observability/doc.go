// Package observability holds the tests of the alert rules, their page in the docs, and the dashboard: promtool runs the
// rules' unit tests, and every query is parsed and may only ask for metrics and labels that the collectors of
// metrics/prometheus and console/figures describe. It is a module of its own, so that nobody who uses Elasticron depends
// on Prometheus' parser. It has tests only.
package observability
