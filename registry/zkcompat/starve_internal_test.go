package zkcompat

import (
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// readable is the connection to a server that can only be read from. It answers at once.
type readable struct {
	net.Conn
	wire *wire
	now  map[string]znode
	zxid int64
}

func (c *readable) Write(request []byte) (int, error) {
	r := reader{rest: request[4:]}
	number := r.int()
	r.int()
	var body frame
	for {
		r.int()
		if end := r.byte(); end != 0 {
			break
		}
		r.int()
		z := c.now[r.text()]
		r.byte()
		body.part(opGetData, false)
		body.text(z.data)
		for _, n := range []int64{0, z.stat.Mzxid, 0, 0} {
			body = binary.BigEndian.AppendUint64(body, uint64(n))
		}
		body = append(body, make([]byte, 36)...) // the rest of the stat
	}
	body.end()
	c.wire.link.see(c.zxid)
	c.wire.answer(number, answer{body: body})
	return len(request), nil
}

// While the event of the next multi is always there before the last one is answered, nothing is ever settled. Views
// move on all the same, and then show all that was done up to their revision.
func TestViewsMoveOnWhileOwnMultisFollowEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, root := hubOf(t)
		server := &readable{now: make(map[string]znode)}
		server.wire = newWire(h.link, server, time.Now().Add(time.Minute))
		h.link.wire = server.wire
		f, err := h.join("/orders", nil)
		require.NoError(t, err)
		root.ask = false
		f.start(registry.NewSnapshot(1, nil))

		const nodes, multis = 50, 2_000
		name := func(i int) string { return strconv.Itoa(i % nodes) }
		moves, last := 0, f.view.Snapshot().Revision()
		var answered *write
		for i := 2; i < multis; i++ {
			path := "/shop/orders/" + name(i)
			sent, next := setOf(path, strconv.Itoa(i), int64(i))
			h.hearWrite(news{kind: writeSent, link: h.link, epoch: 1, write: sent})
			if answered != nil {
				h.link.see(int64(i - 1))
				h.hearWrite(news{kind: writeAnswered, link: h.link, epoch: 1, write: answered})
			}
			server.now[path], server.zxid, answered = next.after[0].znode, int64(i), next
			h.tell(news{kind: nodeChanged, link: h.link, path: path})
			for h.turn() {
			}
			time.Sleep(time.Millisecond)
			now := f.view.Snapshot()
			if now.Revision() == last {
				continue
			}
			moves, last = moves+1, now.Revision()
			for k := max(2, int(last)-nodes+1); k <= int(last); k++ {
				value, err := strconv.Atoi(now.Get("/orders/" + name(k)).Value)
				require.NoError(t, err, fmt.Sprint(k))
				require.GreaterOrEqual(t, value, k, "as of %d", last)
			}
		}
		require.GreaterOrEqual(t, moves, 15, "one each tenth of a second, and a little")
	})
}
