// Package history holds the tests of histories over real database servers. It has no code of its own.
//
// The load of [TestNothingIsLostAcrossAnOutage] is 10,000 executions a minute, for ten seconds a store.
// More is asked for by flags:
//
//	go test -run Outage ./integration/history -history.for=5m -history.outage=1m -v
package history
