package zookeeper

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"
)

// place is where one server of several is found. All are "host:port" but the quorum's, which ends in
// its port, and the election's, which is a port.
type place struct {
	id, client, quorum, election string
}

func newPlaces(count int) ([]place, error) {
	ports, err := freePorts(3 * count)
	if err != nil {
		return nil, err
	}
	places := make([]place, count)
	for i := range places {
		places[i] = place{
			id:       strconv.Itoa(i + 1),
			client:   "127.0.0.1:" + ports[3*i],
			quorum:   "127.0.0.1:" + ports[3*i+1],
			election: ports[3*i+2],
		}
	}
	return places, nil
}

// freePorts finds ports of the loopback interface. They lie below those that systems give to outgoing
// connections, so that nothing takes the port of a server that is down for a moment.
func freePorts(count int) ([]string, error) {
	const lowest, highest, tries = 15_000, 30_000, 500
	var ports []string
	for range tries {
		port := strconv.Itoa(lowest + rand.IntN(highest-lowest))
		listener, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		defer listener.Close() //nolint:errcheck // held until all are found, so that all differ
		if ports = append(ports, port); len(ports) == count {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("found %d of %d free ports between %d and %d", len(ports), count, lowest, highest)
}

// serves asks a server for its state. One that has no quorum says that it does not serve.
func serves(ctx context.Context, address string) bool {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close() //nolint:errcheck // the answer is read
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return false
	}
	answer, err := io.ReadAll(conn)
	return err == nil && strings.Contains(string(answer), "Mode: ")
}
