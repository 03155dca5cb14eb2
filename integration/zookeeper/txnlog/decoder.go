package txnlog

import "encoding/binary"

// decoder reads values in ZooKeeper's encoding. Beyond the end it returns zeros and remembers that.
type decoder struct {
	rest  []byte
	short bool
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.rest) {
		d.short, d.rest = true, nil
		return nil
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) long() int64 {
	if b := d.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (d *decoder) int() int32 {
	if b := d.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (d *decoder) bool() bool {
	b := d.take(1)
	return b != nil && b[0] != 0
}

// bytes reads a length and so many bytes; a length of -1 stands for none.
func (d *decoder) bytes() []byte {
	if n := d.int(); n > 0 {
		return d.take(int(n))
	}
	return nil
}

func (d *decoder) text() string { return string(d.bytes()) }
