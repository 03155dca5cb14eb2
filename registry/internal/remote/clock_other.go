//go:build !linux

package remote

import "github.com/elasticron/elasticron/registry"

// NewClock returns [registry.NewClock]: there is no better one here.
func NewClock() registry.SessionClock { return registry.NewClock() }
