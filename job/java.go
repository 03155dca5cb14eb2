package job

// Java is what the configuration of a job says to instances of Elastic-Job-Lite 2.1.5 alone. Go instances
// keep it as it is, and do nothing by it. The zero value is what Java's builders set.
type Java struct {
	// MonitorPort is the TCP port by which a Java instance serves a dump of its tree. The default, 0,
	// serves none; -1 takes any free port. For that of a Go instance see package dump.
	MonitorPort int
	// Overwrite is set by a Java application that has its declaration replace a stored one, each time
	// that one of its instances starts. It is stored with what it declared. Who wins where Go
	// declares the job is said by scheduler.OnConflict, and never stored.
	Overwrite bool
}
