// Package seed fills a namespace of a registry from a file, so that jobs are there before the first
// process declares them: in a new environment, or for handlers that are told by the registry what to
// run.
//
// # The file
//
// A YAML file mirrors the tree: jobs, and below each what people decide about it. A config is written
// as a mapping of its members, which docs/configuration.md lists; what is left out has its default.
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
// A file of Java properties has a line for each node, its path below the namespace and its value, as
// Elastic-Job 1.x had it. A config then is the JSON text that is stored.
//
//	/orders/config=...
//	/orders/servers/10.0.0.7=DISABLED
//	/orders/sharding/3/disabled=
//
// [ReadFile] refuses a file as a whole, and names everything that is wrong with it: nodes that belong
// to running instances, members that no config has, settings that make no sense.
//
// # What it does
//
// [Run] creates the nodes that are missing. What exists is kept, unless [Options.Overwrite] says
// otherwise. A job of the file appears at once with all that the file says of it; jobs and nodes that
// the file does not mention are left alone. Several processes may seed the same file at once.
package seed
