// Package browser holds the tests of the console in a real browser, Debian's Chromium. It is a module of its own, so
// that nobody who uses Elasticron depends on what drives a browser. It has tests only.
//
// Two kinds of servers stand behind the pages. The scene is a small server with a namespace in which everything that a
// page can show is there at once: for looks, for accessibility, for ten thousand jobs. The stage is the real server
// over an embedded etcd with real schedulers: for what happens.
//
// As root, with CI or ELASTICRON_INSTALL=1 set, the tests install Chromium and npm, from which they get axe-core. What
// is missing in CI fails the tests; elsewhere it skips them.
//
//	CONSOLE_PICTURES=/tmp/pictures go test ./... -run TestEveryPage   # leaves a picture of every page
package browser
