package etcd

import (
	"context"
	"math"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
)

// maxSent bounds a request's message, and is above all that a server takes by default. An answer is as large as
// it is. Both are what etcd's own client has.
const maxSent = 2 << 20

// transact sends a request once. A client that the user brought along may be wrapped, so it is asked in its own
// terms.
func (r *Registry) transact(ctx context.Context, req *pb.TxnRequest) (*pb.TxnResponse, error) {
	if r.kv == nil {
		resp, err := r.client.Do(ctx, opOf(req))
		return (*pb.TxnResponse)(resp.Txn()), err
	}
	resp, err := r.kv.Txn(ctx, req, grpc.MaxCallSendMsgSize(maxSent), grpc.MaxCallRecvMsgSize(math.MaxInt32))
	return resp, clientv3.ContextError(ctx, err)
}

// opOf says in the terms of etcd's client what a request says.
func opOf(req *pb.TxnRequest) clientv3.Op {
	compares := make([]clientv3.Cmp, len(req.Compare))
	for i, c := range req.Compare {
		compares[i] = clientv3.FromCompare(c)
	}
	return clientv3.OpTxn(compares, opsOf(req.Success), opsOf(req.Failure))
}

func opsOf(parts []*pb.RequestOp) []clientv3.Op {
	ops := make([]clientv3.Op, 0, len(parts))
	for _, part := range parts {
		switch {
		case part.GetRequestPut() != nil:
			ops = append(ops, opOfPut(part.GetRequestPut()))
		case part.GetRequestDeleteRange() != nil:
			r := part.GetRequestDeleteRange()
			ops = append(ops, clientv3.OpDelete(string(r.Key), rangeTo(r.RangeEnd)...))
		case part.GetRequestRange() != nil:
			ops = append(ops, opOfRange(part.GetRequestRange()))
		default:
			ops = append(ops, opOf(part.GetRequestTxn()))
		}
	}
	return ops
}

func opOfPut(r *pb.PutRequest) clientv3.Op {
	options := []clientv3.OpOption{clientv3.WithLease(clientv3.LeaseID(r.Lease))}
	if r.IgnoreLease {
		options = append(options, clientv3.WithIgnoreLease())
	}
	return clientv3.OpPut(string(r.Key), string(r.Value), options...)
}

func opOfRange(r *pb.RangeRequest) clientv3.Op {
	options := append(rangeTo(r.RangeEnd), clientv3.WithLimit(r.Limit), clientv3.WithRev(r.Revision))
	if r.KeysOnly {
		options = append(options, clientv3.WithKeysOnly())
	}
	return clientv3.OpGet(string(r.Key), options...)
}

func rangeTo(end []byte) []clientv3.OpOption {
	if len(end) == 0 {
		return nil
	}
	return []clientv3.OpOption{clientv3.WithRange(string(end))}
}
