package etcd

import "github.com/elasticron/elasticron/registry"

// BaseInFlight is how many requests of commits a store that is quick has under way.
const BaseInFlight = baseInFlight

// AtOnce returns how many may be under way by what the store took to answer so far.
func (r *Registry) AtOnce() int {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	return r.queue.latency.parallelRequests()
}

// Waiting returns how many commits wait to be sent, with those that were given up since.
func (r *Registry) Waiting() int {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	n := 0
	for i := range r.queue.lanes {
		n += r.queue.lanes[i].pending.Len()
	}
	return n
}

// LateTicket returns the view of a ticket that may come late, nil if none is followed.
func (r *Registry) LateTicket() *registry.View {
	r.latches.sweeper.mu.Lock()
	defer r.latches.sweeper.mu.Unlock()
	for _, v := range r.latches.sweeper.views {
		if v != nil {
			return v
		}
	}
	return nil
}

// WatchedMember returns the address of the member that the watches are with.
func (r *Registry) WatchedMember() string {
	if m := r.watched.Load(); m != nil {
		return m.address
	}
	return ""
}

// SilentStreams returns how many streams of the watches in a row were given up without a sign of life.
func (r *Registry) SilentStreams() int {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return r.hub.silentStreams
}

// PassedOver tells whether the member at an address was last heard of as one of another cluster.
func (r *Registry) PassedOver(address string) bool {
	k := &r.members.clusters
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.told[address] != 0
}
