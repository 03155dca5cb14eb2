package zookeeper

import (
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/elasticron/elasticron/integration/ports"
)

// place is where one server of several is found. All are "host:port" but the quorum's, which ends in
// its port, and the election's, which is a port.
type place struct {
	id, client, quorum, election string
}

func newPlaces(count int) ([]place, error) {
	found, err := ports.Claim(3 * count)
	if err != nil {
		return nil, err
	}
	places := make([]place, count)
	for i := range places {
		places[i] = place{
			id:       strconv.Itoa(i + 1),
			client:   "127.0.0.1:" + found[3*i],
			quorum:   "127.0.0.1:" + found[3*i+1],
			election: found[3*i+2],
		}
	}
	return places, nil
}

// serves tells whether a server serves. One that has no quorum says that it does not.
func serves(ctx context.Context, address string, patience time.Duration) bool {
	return strings.Contains(state(ctx, address, patience), "Mode: ")
}

// The bounds of the patience with a server that is asked for its state. One that starts may take a connection and never answer
// on it: another one soon tells more.
const (
	leastPatience = 250 * time.Millisecond
	mostPatience  = 5 * time.Second
)

// state asks a server for its state. It is empty if there is no answer in time.
func state(ctx context.Context, address string, patience time.Duration) string {
	deadline := time.Now().Add(patience)
	dialer := net.Dialer{Deadline: deadline}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return ""
	}
	defer conn.Close() //nolint:errcheck // the answer is read
	_ = conn.SetDeadline(deadline)
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return ""
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return ""
	}
	return string(answer)
}
