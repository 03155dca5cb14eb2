package job

// Checker is what code may implement besides that can tell on this machine whether it could run a job, as
// that of a script looks for the command. The scheduler asks it once, when the job is declared, where an
// error refuses the declaration.
type Checker interface {
	// Check returns what is wrong. Unlike that of [Configurable], it may do I/O.
	Check(cfg Config) error
}
