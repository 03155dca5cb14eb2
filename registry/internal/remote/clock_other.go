//go:build !linux

package remote

import "github.com/elasticron/elasticron/registry/backend"

// NewClock returns [backend.NewClock]: there is no better one here.
func NewClock() backend.SessionClock { return backend.NewClock() }
