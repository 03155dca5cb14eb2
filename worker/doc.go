// Package worker runs jobs of the types SCRIPT and HTTP from files or from the registry, without Go code of yours. The
// command "elasticron worker" is this package with a registry; a program that is to be a worker among other things
// uses it like this:
//
//	file, err := worker.ReadFile("worker.yaml")
//	w, err := worker.New(reg, file, worker.WithLogger(slog.Default()))
//	err = w.Run(ctx) // until ctx ends, and what runs has ended or its grace is over
//
// # The file
//
// It is YAML. A member that is not listed here is an error, and so is a value that is not allowed; [ReadFile] names all
// faults at once. Durations are texts such as 90s, sizes are bytes or texts such as 512M (K, M and G are powers of
// 1024).
//
//	registry:                 # where the jobs are, for the command; its flags take precedence
//	  etcd: [https://e1:2379] # endpoints of etcd; or one of the next two
//	  zookeeper: [zk1:2181]   # servers of ZooKeeper
//	  embedded: /var/lib/etcd # folder of an etcd that runs inside the worker, for one machine
//	  address: 127.0.0.1:2379 # where that one listens; this is the default
//	  namespace: shop         # required, unless a flag or the context of the command names it
//	  ca: /etc/ca.pem         # authorities for TLS, which is for etcd alone; default: the system's
//	  cert: /etc/cert.pem     # certificate and key of the client; default: none
//	  key: /etc/key.pem
//	  user: anna              # default: none
//	  password: env:PASSWORD  # of the user: "env:" and a variable, or "file:" and a path
//	take:                     # which jobs this worker takes part in
//	  classes: [ScriptJob, HTTP] # default: those of the sections below
//	  jobs: ["orders-*"]      # patterns of names, as those of path.Match; default: all
//	  labels: {zone: eu}      # what this worker has. A job with the prop elasticron.needs "zone=eu,disk=ssd" is for
//	                          # workers that have all of these. Default: none
//	jobs:                     # jobs from files; default: only those of the registry
//	  directory: /etc/jobs    # its files *.yaml, *.yml and *.properties, in the format of package seed
//	  owner: shop-jobs        # whose jobs these are: one name for all workers with this folder, and for no others;
//	                          # default: the path of the folder
//	  missing: disable        # what becomes of a job of this owner that no file names any more: keep, disable or
//	                          # remove; for the last two, owner is required. Default: keep
//	  version: 42             # of the files: the higher one counts. Default: when the file of a job was changed
//	script:                   # without it, no scripts run
//	  commands: [/opt/jobs/*] # required: absolute paths of programs, which are compared when links are followed; "*"
//	                          # stands for a part of one segment, and the single word "*" for everything
//	  user: jobs              # name or number of the user as whom scripts run; needs root. Default: the worker's
//	  directory: /var/lib/jobs/{job}/{item} # where they run; what is before the first brace must be there, the rest is
//	                          # created. Default: the worker's
//	  env:
//	    pass: [TZ]            # variables of the worker that scripts get, besides PATH and LANG; default: none
//	    files: [/etc/env]     # with lines NAME=value, read before each run; the values are secrets. Default: none
//	  memory: 512M            # limits of one run, with all its processes; they need cgroup v2. Default: none
//	  pids: 64                # processes and threads
//	  cpu: 1.5                # processors
//	  cgroup: /sys/fs/cgroup/jobs # a cgroup that is the worker's alone; default: the worker's own; none: do without
//	  stop: 5s                # from SIGTERM to SIGKILL, unless others may run the item before; default: 5s
//	  output: 64K             # how much of the beginning, and of the end, of an output the history keeps; default: 64K
//	  log:
//	    directory: /var/log/jobs # a folder that is there: all output goes to <job>/<item>.log in it; default: nowhere
//	    size: 10M             # of one file; default: 10M
//	    files: 5              # older ones that are kept, <item>.log.1 being the newest; default: 5
//	http:                     # without it, no HTTP jobs run
//	  allow: ["https://*.shop.internal"] # required: scheme, host and a port that is not the scheme's; "*." stands for
//	                          # one or more labels, ":*" for all ports, and the single word "*" for everything
//	  networks: [10.0.0.0/8]  # to which the names of hosts may lead. Default: all but loopback, link-local, multicast
//	                          # and unspecified addresses and a few of clouds; of these, those that allow names
//	  secrets: ["file:/run/secrets/*", "env:API_*"] # references that the props of jobs may have; "*" is as in
//	                          # commands. Default: none
//	  output: 64K             # how much of the beginning, and of the end, of the answers of a run the history keeps;
//	                          # default: 64K
//	  sign:
//	    keys: [file:/run/hmac] # one or two keys that sign calls, see package callback; default: none
//	mail:                     # by which jobs may have their failures sent (EMAIL); default: none
//	  server: smtp.shop.internal:465 # required
//	  tls: implicit           # implicit: from the first byte; offered: if the server offers it. Default: implicit
//	  user: jobs              # default: none
//	  password: file:/run/smtp # of the user, "env:" or "file:"; read for each mail, never sent without TLS
//	  from: jobs@shop.example # required
//	  to: ["*@shop.example"]  # required: who may get mail; "*" is as in take.jobs, alone it stands for everybody
//	history:                  # of executions; default: none
//	  file: /var/lib/history.db # a database of SQLite, for this worker alone
//	  keep: 720h              # how long; default: 720h
//	  outputs: 100            # how many outputs of one item, the newest; default: 100
//	  size: 1G                # how much all outputs may have together, 8M or more; the oldest go first; default: 1G
//	grace: 90s                # from SIGTERM to the end of the worker; default: 30s
//	headStart: 0s             # how long before its fire what has nothing else to wait for may begin; default, and most: 200ms.
//	                          # 0s for jobs without failover that may rather be late than lose a fire to a crash right before it
//	listen: 127.0.0.1:9090    # /live, /ready, /cluster and /metrics; default: nowhere
//	log:                      # of the command
//	  level: info             # debug, info, warn or error; default: info
//	  format: text            # text or json; default: text
//
// # Who may have what run
//
// Whoever can write to the registry chooses the command, the address and the parameters. The file of the worker, which
// only its machine can change, says what of that is run: [File.Script] and [File.HTTP] have a list each, and there is
// no default. Where failures may be told by mail, [File.Mail] says. See docs/worker.md.
package worker
