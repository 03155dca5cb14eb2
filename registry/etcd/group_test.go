package etcd

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/registry"
)

// keyspace is a store by the creation of its keys; none has a lease.
type keyspace map[string]int64

// judge answers a request as etcd does: all conditions, nested ones too, are judged on the state before it.
func (k keyspace) judge(req *pb.TxnRequest, after keyspace) *pb.TxnResponse {
	resp := &pb.TxnResponse{Header: &pb.ResponseHeader{Revision: 100}, Succeeded: true}
	for _, c := range req.Compare {
		switch {
		case c.Target == pb.Compare_LEASE:
		case c.Result == pb.Compare_GREATER:
			resp.Succeeded = resp.Succeeded && k[string(c.Key)] > c.GetCreateRevision()
		default:
			resp.Succeeded = resp.Succeeded && k[string(c.Key)] == c.GetCreateRevision()
		}
	}
	if !resp.Succeeded {
		return resp
	}
	for _, op := range req.Success {
		part := new(pb.ResponseOp)
		switch {
		case op.GetRequestTxn() != nil:
			part.Response = &pb.ResponseOp_ResponseTxn{ResponseTxn: k.judge(op.GetRequestTxn(), after)}
		case op.GetRequestPut() != nil:
			after[string(op.GetRequestPut().Key)] = resp.Header.Revision
		}
		resp.Responses = append(resp.Responses, part)
	}
	return resp
}

// Commits that share a request, and conditions, come to what each comes to alone.
func TestGroupsAreLikeSingleCommits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"/a", "/b", "/c", "/d", "/e"})
		state := keyspace{}
		for _, p := range rapid.SliceOf(name).Draw(t, "there") {
			state["/ns"+p] = 7
		}
		condition := rapid.Custom(func(t *rapid.T) registry.Condition {
			p := name.Draw(t, "path")
			return rapid.SampledFrom([]registry.Condition{registry.Absent(p), registry.Present(p), registry.CreatedAt(p, 7)}).Draw(t, "condition")
		})
		b := newRequestBuilder(false, newFootprint())
		for i, guards := range rapid.SliceOfN(rapid.SliceOfN(condition, 0, 5), 1, 12).Draw(t, "commits") {
			txn := registry.Txn{If: guards, Then: []registry.Write{registry.Put("/of/"+string(rune('a'+i)), "")}}
			require.True(t, b.add(commitOf(txn, false)))
		}
		together := maps.Clone(state)
		resp := state.judge(namespace("/ns").encode(b.groups), together)
		refused, _ := newQueue(&Registry{}).answered(&request{groups: b.groups, commits: b.commits}, resp)

		alone, weight := maps.Clone(state), 0
		for _, c := range b.commits {
			weight += c.weight()
			if state.judge(namespace("/ns").encode([]group{newGroup(c)}), alone).Succeeded {
				require.Equal(t, registry.Outcome{Revision: 100}, <-c.outcome)
			} else {
				require.Contains(t, refused, c)
				require.Empty(t, c.outcome)
			}
		}
		require.Equal(t, alone, together)
		for _, g := range b.groups {
			weight -= g.spared()
		}
		require.Equal(t, weight, b.weight)
	})
}
