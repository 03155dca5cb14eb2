//go:build !linux

package etcd

import "github.com/elasticron/elasticron/registry"

func newClock() registry.SessionClock { return registry.NewClock() }
