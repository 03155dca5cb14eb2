//go:build linux

package process_test

import (
	"context"
	"time"

	"github.com/elasticron/elasticron/integration/zookeeper"
)

// zkPrey is a ZooKeeper server that stands alone: what hits its leader hits all of it.
type zkPrey struct{ server *zookeeper.Server }

// faults implements [prey].
func (z zkPrey) faults() []fault { return []fault{killStoreHead, restartStore, freezeMember} }

// strike implements [prey].
func (z zkPrey) strike(c *chaos, b blow) {
	do := func(deed func() error) {
		if err := deed(); err != nil {
			c.t.Error(err)
		}
	}
	c.down(func() {
		switch b.fault {
		case killStoreHead:
			do(z.server.Kill)
			time.Sleep(b.lasts)
			do(z.run)
		case restartStore:
			do(z.server.Kill)
			do(z.run)
		case freezeMember:
			do(z.server.Freeze)
			time.Sleep(b.lasts)
			do(z.server.Thaw)
		}
	})
}

func (z zkPrey) run() error { return z.server.Run(context.Background()) }

// awaitService implements [prey]. A server that stands alone serves as soon as it runs.
func (z zkPrey) awaitService() error { return nil }
