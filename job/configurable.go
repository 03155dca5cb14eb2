package job

// Configurable is code that depends on the configuration of its job, as that of a script does on the
// command line. The scheduler asks it when the job is declared, where an error refuses the declaration,
// and again for the stored configuration and whenever that changes; there an error pauses the job
// until the configuration is corrected. The answer runs the items from then on; executions that began
// earlier go on with the code that they began with.
//
// Nothing else waits while Configure is asked, but the job begins nothing meanwhile. One that has not
// returned after ten seconds has failed, until it returns after all.
type Configurable interface {
	Simple
	// Configure returns the code for a job of this configuration, or what is wrong with it. It does
	// no I/O and is safe for concurrent use.
	Configure(cfg Config) (Simple, error)
}

// Configure returns what runs the items of a job: what simple makes of the configuration if it is
// [Configurable], else simple itself. Code that is not Configurable cannot be of a type that only such
// code knows how to run: a [FieldError] says so.
func Configure(simple Simple, cfg Config) (Simple, error) {
	configurable, is := simple.(Configurable)
	if is {
		return configurable.Configure(cfg)
	}
	switch cfg.Type {
	case TypeDataflow:
		return nil, &FieldError{Field: "Type", Value: cfg.Type.String(), Reason: "must be SIMPLE, as the code is no Dataflow"}
	case TypeScript:
		return nil, &FieldError{Field: "Type", Value: cfg.Type.String(), Reason: "must be SIMPLE, as the code is none that runs scripts"}
	default:
		return simple, nil
	}
}
