// Package seed fills a namespace of a registry from a file, so that jobs exist before the first process declares
// them. It is for new environments, and for processes with handlers, which run the jobs that the registry has.
//
//	file, err := seed.ReadFile("jobs.yaml")
//	nodes, err := seed.Run(ctx, reg, file, seed.Options{})
//	for _, n := range nodes {
//		fmt.Println(n.Path, n.Action)
//	}
//
// # The file
//
// A YAML file mirrors the tree: it lists jobs, and below each job the things that people decide about it. A
// config is a mapping of its members, which docs/configuration.md lists; a missing member has its default.
//
//	orders:
//	  config:
//	    jobClass: orders
//	    cron: 0 0/5 * * * ?
//	    shardingTotalCount: 4
//	    timeZone: Europe/Berlin
//	  servers:
//	    10.0.0.7: DISABLED
//	  sharding:
//	    3:
//	      disabled:
//
// A file of Java properties has a line for each node, with its path below the namespace and its value, as in
// Elastic-Job 1.x. There, a config is the JSON text that is stored.
//
//	/orders/config=...
//	/orders/servers/10.0.0.7=DISABLED
//	/orders/sharding/3/disabled=
//
// A config may also be the JSON text that is stored. It is put in order unless it has the tag !stored, with which every byte of
// it stays; [Export] writes that where it has to. With the tag it may be one that a declaration must not be and that a job runs
// with all the same, such as Java may have stored.
//
// If anything is wrong with a file, [ReadFile] refuses the whole file and names every fault: nodes that belong
// to running instances, members that no config has, settings that make no sense. A YAML file may make use of aliases; they must
// not make more than 32 MiB of texts.
//
// # What it does
//
// [Run] creates the nodes that are missing. It keeps what exists, unless [Options.Overwrite] says otherwise, and
// whether a job that exists is disabled in any case. A job of the file appears at once, with everything that the file says
// about it. Run leaves alone the jobs and nodes that the file does not mention. What it changes of a job that exists is
// written down as operators' deeds are, with who did it. Several processes may seed the same file at the same time.
package seed
