package zookeeper

import "time"

// Option changes how a server is started.
type Option func(*options)

type options struct {
	tick  time.Duration
	sync  bool
	whole bool
	heap  string
	flags []string
	lines []string
	via   func(from, to int, address string) string
}

func newOptions(chosen []Option) options {
	o := options{tick: 100 * time.Millisecond, heap: "128m", via: func(_, _ int, address string) string { return address }}
	for _, choose := range chosen {
		choose(&o)
	}
	return o
}

// WithTick sets ZooKeeper's unit of time. A session lasts at least two ticks and at most 20, and the
// server looks for expired ones once a tick. The default is 100 ms, with sessions of up to a minute.
func WithTick(tick time.Duration) Option { return func(o *options) { o.tick = tick } }

// WithForcedSync has the server force its log to the disk before it answers, as servers in production
// do.
func WithForcedSync() Option { return func(o *options) { o.sync = true } }

// WithWholeCompiler has the server's Java compile what runs often as well as it can, as installations do. Servers that live
// for a test alone do without.
func WithWholeCompiler() Option { return func(o *options) { o.whole = true } }

// WithHeap bounds the heap of the Java process, as -Xmx takes it. The default is "128m".
func WithHeap(size string) Option { return func(o *options) { o.heap = size } }

// WithJavaFlags adds flags of the Java virtual machine, such as "-Djute.maxbuffer=65536".
func WithJavaFlags(flags ...string) Option {
	return func(o *options) { o.flags = append(o.flags, flags...) }
}

// WithConfig adds lines to the configuration of the servers, such as "localSessionsEnabled=true".
func WithConfig(lines ...string) Option {
	return func(o *options) { o.lines = append(o.lines, lines...) }
}

// WithPeersVia has the servers of an ensemble reach each other by other addresses, such as those of proxies. via is asked for
// each of the two ports, "host:port", at which a server hears another one. Servers count from 0.
func WithPeersVia(via func(from, to int, address string) string) Option {
	return func(o *options) { o.via = via }
}
