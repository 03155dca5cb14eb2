package zookeeper

import (
	"fmt"
	"path/filepath"
	"strings"
)

// longestSession is what a client may ask for at most, whatever the tick.
const longestSession = 60_000

// config returns the lines of zoo.cfg of one of several servers, without its folder.
func (o options) config(all []place, own int) string {
	var b strings.Builder
	_, port, _ := strings.Cut(all[own].client, ":")
	fmt.Fprintf(&b, "tickTime=%d\nmaxSessionTimeout=%d\n", o.tick.Milliseconds(), longestSession)
	fmt.Fprintf(&b, "clientPort=%s\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\n", port)
	fmt.Fprintf(&b, "admin.enableServer=false\n4lw.commands.whitelist=srvr,ruok,cons,dump,wchs,mntr\n")
	for _, line := range o.lines {
		fmt.Fprintln(&b, line)
	}
	if len(all) > 1 {
		fmt.Fprintf(&b, "initLimit=100\nsyncLimit=20\n")
		for i, p := range all {
			quorum, election := p.quorum, p.election
			if i != own {
				quorum = o.via(own, i, quorum)
				_, election, _ = strings.Cut(o.via(own, i, "127.0.0.1:"+election), ":")
			}
			fmt.Fprintf(&b, "server.%s=%s:%s\n", p.id, quorum, election)
		}
	}
	return b.String()
}

// java returns the command that runs a server.
func (o options) java(jars, folder, config string) []string {
	command := []string{
		"java", "-Xmx" + o.heap, "-XX:+UseSerialGC",
		"-Dzookeeper.preAllocSize=1024", "-Dzookeeper.jmx.log4j.disable=true",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Djava.io.tmpdir=" + folder,
	}
	if !o.whole {
		command = append(command, "-XX:TieredStopAtLevel=1")
	}
	if !o.sync {
		command = append(command, "-Dzookeeper.forceSync=no")
	}
	command = append(command, o.flags...)
	return append(command, "-cp", filepath.Join(jars, "*"),
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
}
