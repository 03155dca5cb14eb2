package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/elasticron/elasticron/federation/home"
	references "github.com/elasticron/elasticron/internal/reference"
	"github.com/elasticron/elasticron/registry"
)

// Variables of the environment that say which context counts.
const (
	contextVariable      = "ELASTICRON_CONTEXT"
	contextsFileVariable = "ELASTICRON_CONFIG"
)

// contexts is the file of contexts.
type contexts struct {
	Current  string             `yaml:"current,omitempty"`
	Contexts map[string]cluster `yaml:"contexts,omitempty"`
}

// cluster is a context: a namespace, and how to reach it. It holds no password and no token, but may name their files.
type cluster struct {
	Etcd         []string `yaml:"etcd,omitempty"      json:"etcd,omitempty"`
	ZooKeeper    []string `yaml:"zookeeper,omitempty" json:"zookeeper,omitempty"`
	Server       string   `yaml:"server,omitempty"    json:"server,omitempty"`
	Namespace    string   `yaml:"namespace,omitempty" json:"namespace,omitempty"`
	User         string   `yaml:"user,omitempty"      json:"user,omitempty"`
	PasswordFile string   `yaml:"password_file,omitempty" json:"password_file,omitempty"`
	TokenFile    string   `yaml:"token_file,omitempty"    json:"token_file,omitempty"`
	CA           string   `yaml:"ca,omitempty"        json:"ca,omitempty"`
	Cert         string   `yaml:"cert,omitempty"      json:"cert,omitempty"`
	Key          string   `yaml:"key,omitempty"       json:"key,omitempty"`
	// Registries are several registries over which jobs are spread: the contexts of each, by name. Directory is the one that
	// decides where new jobs are.
	Registries map[string]string `yaml:"registries,omitempty" json:"registries,omitempty"`
	Directory  string            `yaml:"directory,omitempty"  json:"directory,omitempty"`
}

// flags has flags fill in a context.
func (c *cluster) flags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&c.Etcd, "etcd", nil, "endpoints of the etcd cluster, as URLs separated by commas")
	flags.StringSliceVar(&c.ZooKeeper, "zookeeper", nil, "servers of the ZooKeeper ensemble, as host:port separated by commas")
	flags.StringVar(&c.Server, "server", "", "URL of an elasticron server to go through")
	flags.StringVar(&c.TokenFile, "token-file", "", "file that holds the token for the server")
	flags.StringVarP(&c.Namespace, "namespace", "n", "", "namespace of the jobs")
	flags.StringVar(&c.User, "user", "", "user of the etcd cluster, or of ZooKeeper's digest scheme")
	flags.StringVar(&c.PasswordFile, "password-file", "", "file that holds the user's password")
	flags.StringVar(&c.CA, "ca", "", "PEM file of the authorities that etcd's certificates are checked against")
	flags.StringVar(&c.Cert, "cert", "", "PEM file of the client's certificate")
	flags.StringVar(&c.Key, "key", "", "PEM file of the client's key")
	flags.Var(registriesFlag{&c.Registries}, "registries", "several registries, as name=context separated by commas")
	flags.StringVar(&c.Directory, "directory", "", "name of the registry that decides where new jobs are")
}

// take takes over from another one what flags say that are given.
func (c *cluster) take(said cluster, given func(flag string) bool) {
	for flag, take := range map[string]func(){
		// Who names one kind of registry leaves the other.
		"etcd":          func() { c.Etcd, c.ZooKeeper = said.Etcd, nil },
		"zookeeper":     func() { c.ZooKeeper, c.Etcd = said.ZooKeeper, nil },
		"server":        func() { c.Server = said.Server },
		"token-file":    func() { c.TokenFile = said.TokenFile },
		"namespace":     func() { c.Namespace = said.Namespace },
		"user":          func() { c.User = said.User },
		"password-file": func() { c.PasswordFile = said.PasswordFile },
		"ca":            func() { c.CA = said.CA },
		"cert":          func() { c.Cert = said.Cert },
		"key":           func() { c.Key = said.Key },
		"registries":    func() { c.Registries = said.Registries },
		"directory":     func() { c.Directory = said.Directory },
	} {
		if given(flag) {
			take()
		}
	}
}

// check names what is wrong with a context.
func (c cluster) check() error {
	switch {
	case len(c.Registries) > 0:
		return c.checkSeveral()
	case c.Directory != "":
		return errors.New("directory is given without registries")
	case len(c.Etcd) > 0 && len(c.ZooKeeper) > 0:
		return errors.New("etcd and zookeeper are given: want one of them")
	case c.Server != "" && len(c.Etcd)+len(c.ZooKeeper) > 0:
		return errors.New("server is given besides etcd or zookeeper: want one of them")
	case c.Server == "" && len(c.Etcd)+len(c.ZooKeeper) == 0:
		return errors.New("none of etcd, zookeeper and server is given: want the addresses of one of them")
	case slices.ContainsFunc(c.Etcd, references.HasLogin):
		return errors.New("etcd has an address with a user or a password: want user, and password_file")
	case c.TokenFile != "" && c.Server == "":
		return errors.New("token_file is given without server")
	case c.Server != "" && c.User+c.PasswordFile != "":
		return errors.New("user and password_file are for a registry: with server there is a token")
	case len(c.ZooKeeper) > 0 && c.CA+c.Cert+c.Key != "":
		return errors.New("ca, cert and key are for etcd: with zookeeper there is no TLS here")
	case (c.Cert == "") != (c.Key == ""):
		return errors.New("cert and key must be given together")
	case c.PasswordFile != "" && c.User == "":
		return errors.New("password_file is given without user")
	case c.Namespace != "":
		return registry.CheckPath("/" + c.Namespace)
	default:
		return nil
	}
}

// checkSeveral names what is wrong with a context of several registries.
func (c cluster) checkSeveral() error {
	alone := c
	alone.Registries, alone.Directory, alone.Namespace = nil, "", ""
	if !reflect.DeepEqual(alone, cluster{}) {
		return errors.New("registries are given besides how to reach one: that belongs into the contexts that they name")
	}
	if c.Namespace != "" {
		if err := registry.CheckPath("/" + c.Namespace); err != nil {
			return err
		}
	}
	_, err := home.New(c.Directory, slices.Collect(maps.Keys(c.Registries)), nil)
	return err
}

// contextsFile returns where the contexts are kept.
func (p *program) contextsFile() (string, error) {
	if name := p.env(contextsFileVariable); name != "" {
		return name, nil
	}
	folder := p.env("XDG_CONFIG_HOME")
	if folder == "" {
		var err error
		if folder, err = os.UserConfigDir(); err != nil {
			return "", fmt.Errorf("no place for the file of contexts: %w; set $%s", err, contextsFileVariable)
		}
	}
	return filepath.Join(folder, "elasticron", "contexts.yaml"), nil
}

// contextsTarget returns where the contexts are kept after all links: that file is replaced, and not the link.
func (p *program) contextsTarget() (string, error) {
	name, err := p.contextsFile()
	if err != nil {
		return "", err
	}
	for range mostLinks {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			return real, nil
		}
		link, err := os.Readlink(name)
		if err != nil { // it is where the file is to be
			return name, nil
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(name), link)
		}
		name = link
	}
	return "", fmt.Errorf("contexts: %s: want a link that leads to a file", name)
}

// mostLinks is how many links may follow each other, which may also lead in a circle.
const mostLinks = 40

// readContexts returns what the file holds; nothing if there is no file.
func (p *program) readContexts() (contexts, error) {
	name, err := p.contextsFile()
	if err != nil {
		return contexts{}, err
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return contexts{}, nil
	}
	if err != nil {
		return contexts{}, fmt.Errorf("contexts: %w", err)
	}
	var all contexts
	reader := yaml.NewDecoder(bytes.NewReader(text))
	reader.KnownFields(true)
	if err := reader.Decode(&all); err != nil && !errors.Is(err, io.EOF) {
		return contexts{}, fmt.Errorf("contexts: %s: %w", name, err)
	}
	for _, known := range all.names() {
		if err := all.Contexts[known].check(); err != nil {
			return contexts{}, fmt.Errorf("contexts: %s: context %s: %w", name, known, err)
		}
	}
	return all, nil
}

// lockContexts keeps other processes from changing the file until it is unlocked. What is locked is its folder, as the file is
// replaced.
func (p *program) lockContexts() (unlock func(), err error) {
	name, err := p.contextsTarget()
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // /dev/null, of who wants no contexts
		return nil, fmt.Errorf("contexts: %s is no regular file, and would be replaced by one: name another file by $%s", name, contextsFileVariable)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return lockFolder(filepath.Dir(name))
}

// absolute has the files of a context that this call names be the same wherever commands are run later.
func (c *cluster) absolute() error {
	for _, name := range []*string{&c.PasswordFile, &c.TokenFile, &c.CA, &c.Cert, &c.Key} {
		if *name == "" {
			continue
		}
		whole, err := filepath.Abs(*name)
		if err != nil {
			return err
		}
		*name = whole
	}
	return nil
}

// writeContexts replaces the file. Another process sees the former or the new one, and nothing in between. Who could read it
// still can, and a link goes on to lead to it.
func (p *program) writeContexts(all contexts) (err error) {
	name, err := p.contextsTarget()
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(all)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".contexts-*") // for its owner alone
	if err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	_, err = file.Write(text)
	if before, statErr := os.Stat(name); statErr == nil {
		err = errors.Join(err, asBefore(file, before))
	}
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(fmt.Errorf("contexts: %w", err), os.Remove(file.Name()))
	}
	if err := os.Rename(file.Name(), name); err != nil {
		return errors.Join(fmt.Errorf("contexts: %w", err), os.Remove(file.Name()))
	}
	return nil
}

func (c contexts) names() []string { return slices.Sorted(maps.Keys(c.Contexts)) }

// get returns a context that must be there.
func (c contexts) get(name string) (cluster, error) {
	found, ok := c.Contexts[name]
	if !ok {
		return cluster{}, fmt.Errorf("there is no context %q; known are: %s", name, orNone(c.names()))
	}
	return found, nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
