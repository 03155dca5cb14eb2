// Package proxy stands between a client and a server in tests, so that a test can break the network
// between the two: swallow what is sent, or close connections.
package proxy
