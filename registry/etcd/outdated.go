package etcd

import (
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// etcd judges a watch by the token that its stream was opened with. The other requests of a client fetch a new one when
// theirs is not taken any more; a stream keeps its own for as long as it lives.

// outdated tells whether a watch was refused because of the token of its stream. The client brings no more of such a refusal
// than its text.
func outdated(err error) bool {
	for _, refused := range []error{rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision, rpctypes.ErrUserEmpty} {
		if strings.Contains(err.Error(), refused.Error()) {
			return true
		}
	}
	return false
}

// leaveStream has all watches go over to a new stream, which has a new token, if the one of this number is still theirs.
func (h *hub) leaveStream(number int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.r.stream.Load() == number {
		h.changeStream()
	}
}
