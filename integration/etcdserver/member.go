package etcdserver

import (
	"os/exec"

	"github.com/elasticron/elasticron/integration/etcdserver/internal/wire"
)

// Member describes a process that is one member of a cluster, for tests that put a cluster together
// from processes, to freeze them or to hold up what they say to each other.
type Member = wire.Member

// MemberReady is what such a process prints when it serves.
const MemberReady = wire.Ready

// MemberCommand returns the command that runs a member. It serves until SIGTERM or until its standard
// input ends, and writes etcd's errors to its standard error.
func MemberCommand(m Member) (*exec.Cmd, error) {
	line, err := command(wire.RoleMember, m)
	if err != nil {
		return nil, err
	}
	return exec.Command(line[0], line[1:]...), nil
}
