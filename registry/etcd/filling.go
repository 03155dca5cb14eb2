package etcd

// The bounds of a request that several transactions share. etcd's own are 128 operations and 1.5 MiB;
// a transaction may exceed these bounds alone, and the server judges it then.
const (
	maxOps   = 128
	maxBytes = 1 << 20
	// maxWeight bounds the compares and writes of all transactions together, because nobody else is
	// served while the store carries out a request: this many take it about 5 ms.
	maxWeight = 1500
)

// filling is a request in the making.
type filling struct {
	single  bool // it takes only one
	commits []*commit
	met     *footprint
	size    int // of the largest transaction
	weight  int
	bytes   int
}

func newFilling(single bool) *filling { return &filling{single: single, met: newFootprint()} }

// full tells that nothing more fits, whatever it is.
func (f *filling) full() bool {
	return len(f.commits) > 0 &&
		(f.single || len(f.commits)+f.size >= maxOps || f.weight >= maxWeight || f.bytes >= maxBytes)
}

// add takes the commit in if it may share the request with those that are in it already. etcd allows
// a nested transaction as many operations as the request has left of its limit.
func (f *filling) add(c *commit) bool {
	size := max(f.size, c.enc.size())
	weight, bytes := f.weight+c.enc.weight(), f.bytes+c.enc.keyedBytes
	if len(f.commits) > 0 {
		over := len(f.commits)+1+size > maxOps || weight > maxWeight || bytes > maxBytes
		if c.alone || over || f.met.meets(c.txn) {
			return false
		}
	}
	f.single = f.single || c.alone
	f.commits = append(f.commits, c)
	f.met.add(c.txn)
	f.size, f.weight, f.bytes = size, weight, bytes
	return true
}
