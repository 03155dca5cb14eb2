package databases

import (
	"os"
	"syscall"
)

// nobody is the user and the group of servers where this process is root, by number: those of every
// Linux.
const nobody = 65534

// attributes puts a server into a process group of its own, so that an interrupt at the terminal does
// not reach it before the test, has it killed when the test dies, and takes root's rights from it.
func attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		attributes.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return attributes
}

// give hands a folder to the user of servers.
func give(folder string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(folder, nobody, nobody)
}
