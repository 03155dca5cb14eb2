package javapeer

import "encoding/json"

// Console does what an operator does in the Java console, through the library's lifecycle API. Any
// process can be one, whether or not it takes part in a job.
type Console struct {
	peer    *Peer
	cluster Cluster
}

// Console returns the console of a cluster.
func (p *Peer) Console(c Cluster) Console { return Console{p, c} }

func (c Console) ask(op, job, ip string, result any) error {
	r := c.cluster.request("console-" + op)
	r.Job, r.IP = job, ip
	return c.peer.ask(r, result)
}

// Trigger asks all instances of a job to run it now.
func (c Console) Trigger(job string) error { return c.ask("trigger", job, "", nil) }

// Disable disables a job on a server; an empty ip is all servers, an empty job all jobs.
func (c Console) Disable(job, ip string) error { return c.ask("disable", job, ip, nil) }

// Enable is the reverse of Disable.
func (c Console) Enable(job, ip string) error { return c.ask("enable", job, ip, nil) }

// Shutdown stops a job on a server; an empty ip is all servers, an empty job all jobs.
func (c Console) Shutdown(job, ip string) error { return c.ask("shutdown", job, ip, nil) }

// Remove shuts a job down on a server and forgets the server; an empty ip is all servers, an empty job all jobs.
func (c Console) Remove(job, ip string) error { return c.ask("remove", job, ip, nil) }

// Dump has an instance of a job tell what its registry has of the job, which is the text that an operator
// sees. peer is the process of that instance. It is for [ElasticJob3].
func (c Console) Dump(peer *Peer, job string) (string, error) {
	var port int
	if err := peer.ask(request{Op: "snapshot", Job: job}, &port); err != nil {
		return "", err
	}
	r := c.cluster.request("console-dump")
	r.Job, r.IP, r.Item = job, "127.0.0.1", port
	var text string
	err := c.peer.ask(r, &text)
	return text, err
}

// DisableItem excludes an item.
func (c Console) DisableItem(job string, item int) error {
	r := c.cluster.request("console-disable-item")
	r.Job, r.Item = job, item
	return c.peer.ask(r, nil)
}

// EnableItem is the reverse of DisableItem.
func (c Console) EnableItem(job string, item int) error {
	r := c.cluster.request("console-enable-item")
	r.Job, r.Item = job, item
	return c.peer.ask(r, nil)
}

// Settings returns a job's settings, by the names of the console's form.
func (c Console) Settings(job string) (map[string]any, error) {
	var settings map[string]any
	err := c.ask("settings", job, "", &settings)
	return settings, err
}

// UpdateSettings stores settings as the console does.
func (c Console) UpdateSettings(settings map[string]any) error {
	text, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	r := c.cluster.request("console-update-settings")
	r.Text = string(text)
	return c.peer.ask(r, nil)
}

// RemoveSettings removes a job's tree.
func (c Console) RemoveSettings(job string) error { return c.ask("remove-settings", job, "", nil) }

// Items returns what the console shows of a job's items.
func (c Console) Items(job string) ([]ItemInfo, error) {
	var items []ItemInfo
	err := c.ask("items", job, "", &items)
	return items, err
}

// ItemInfo is a line of the console's list of items.
type ItemInfo struct {
	Item     int    `json:"item"`
	ServerIP string `json:"serverIp"`
	Instance string `json:"instanceId"` // what follows the address in the id
	Status   string `json:"status"`
	Failover bool   `json:"failover"`
}

// Jobs returns what the console shows of all jobs of the namespace.
func (c Console) Jobs() ([]JobInfo, error) {
	var jobs []JobInfo
	err := c.ask("jobs", "", "", &jobs)
	return jobs, err
}

// JobInfo is a line of the console's list of jobs.
type JobInfo struct {
	Job       string `json:"jobName"`
	Status    string `json:"status"`
	Cron      string `json:"cron"`
	Items     int    `json:"shardingTotalCount"`
	Instances int    `json:"instanceCount"`
}

// Servers returns what the console shows of all servers of the namespace.
func (c Console) Servers() ([]ServerInfo, error) {
	var servers []ServerInfo
	err := c.ask("servers", "", "", &servers)
	return servers, err
}

// ServerInfo is a line of the console's list of servers.
type ServerInfo struct {
	ServerIP  string `json:"serverIp"`
	Instances int    `json:"instances"`
	Jobs      int    `json:"jobs"`
	Disabled  int    `json:"disabledJobs"`
}
