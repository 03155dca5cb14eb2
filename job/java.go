package job

// Java is the part of a job's configuration that only instances of Elastic-Job-Lite 2.1.5 use. Go instances
// keep it as it is, and it has no effect on them. The zero value is what Java's builders set.
type Java struct {
	// MonitorPort is the TCP port on which a Java instance serves a dump of its tree. With the default, 0,
	// it serves none; with -1 it takes any free port. Go instances use package dump.
	MonitorPort int
	// Overwrite means that a Java application declared the job and replaces what is stored each time that
	// one of its instances starts. It is stored with what the application declared. For a job that Go
	// declares, scheduler.OnConflict says who wins, and is not stored.
	Overwrite bool
}
