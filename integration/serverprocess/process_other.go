//go:build !linux

package serverprocess

import (
	"errors"
	"os/exec"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func dropRights(*exec.Cmd) {}

// HandOver does nothing on this system.
func HandOver(string) error { return nil }

// Freeze is not supported on this system.
func (p *Process) Freeze() error { return errors.ErrUnsupported }

// Thaw is not supported on this system.
func (p *Process) Thaw() error { return errors.ErrUnsupported }
