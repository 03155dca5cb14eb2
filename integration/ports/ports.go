// Package ports gives the servers of tests ports of the loopback that nobody else takes. A server binds its port
// some time after the port was found free, and again when it is started anew; meanwhile other test processes, which
// run at the same time, look for ports as well.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"

	"github.com/elasticron/elasticron/integration/cache"
)

// The ports lie below those that systems give to outgoing connections, so that no connection takes the port of a
// server that is down for a moment.
const lowest, highest, tries = 12_000, 32_000, 500

var (
	mu      sync.Mutex
	claimed = make(map[int]*fileutil.LockedFile) // until this process ends
)

// Claim returns so many ports on which nobody listens. They are this process's until it ends: no other process that
// asks this package gets them, and no other caller in this one.
func Claim(count int) ([]string, error) {
	folder, err := cache.Folder("ports")
	if err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	var ports []string
	for range tries {
		if len(ports) == count {
			return ports, nil
		}
		if port := lowest + rand.IntN(highest-lowest); claim(folder, port) {
			ports = append(ports, strconv.Itoa(port))
		}
	}
	return nil, fmt.Errorf("found %d of %d free ports between %d and %d", len(ports), count, lowest, highest)
}

// claim takes a port, if nobody has it and nobody listens on it. The caller holds mu.
func claim(folder string, port int) bool {
	if claimed[port] != nil {
		return false
	}
	name := strconv.Itoa(port)
	lock, err := fileutil.TryLockFile(filepath.Join(folder, name), os.O_RDWR|os.O_CREATE, fileutil.PrivateFileMode)
	if err != nil {
		return false
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", name))
	if err != nil {
		_ = lock.Close()
		return false
	}
	claimed[port] = lock
	return listener.Close() == nil
}
