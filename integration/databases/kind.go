package databases

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	_ "github.com/go-sql-driver/mysql" // the driver of MariaDB
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of PostgreSQL
)

// Kind is a database product. Only the variables of this package are kinds.
type Kind struct {
	// Name is what the product calls itself.
	Name string
	// Dialect is what package sqlstore calls its SQL.
	Dialect string

	driver   string   // of database/sql
	pkg      string   // of Debian
	programs []string // that it needs
	folders  []string // patterns of where they may lie beside the PATH
	first    string   // the database that is always there; empty = none
	die      os.Signal
	dsn      func(address, database string) string
	create   func(database string) string
	prepare  func(folder string) []string // the command that makes the data
	serve    func(folder, port string) []string
	unforced []string // arguments of serve, so that nothing waits for the disk
}

// PostgreSQL runs postgres.
var PostgreSQL = &Kind{
	Name: "PostgreSQL", Dialect: "postgres",
	driver: "pgx", pkg: "postgresql", programs: []string{"postgres", "initdb"},
	folders: []string{"/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin"},
	first:   "postgres",
	// An immediate shutdown: the same recovery at the next start as after SIGKILL. That would leave
	// children behind that hold the data for a moment longer.
	die: syscall.SIGQUIT,
	dsn: func(address, database string) string {
		u := url.URL{Scheme: "postgres", User: url.User("elasticron"), Host: address, Path: database, RawQuery: "sslmode=disable"}
		return u.String()
	},
	create: func(database string) string { return "CREATE DATABASE " + database },
	prepare: func(folder string) []string {
		return []string{
			"initdb", "--pgdata=" + filepath.Join(folder, "data"), "--username=elasticron", "--auth=trust",
			"--encoding=UTF8", "--locale=C", "--no-sync",
		}
	},
	serve: func(folder, port string) []string {
		return []string{
			"postgres", "-D", filepath.Join(folder, "data"), "-p", port, "-k", folder,
			"-c", "listen_addresses=127.0.0.1", "-c", "timezone=UTC",
		}
	},
	unforced: []string{"-c", "fsync=off"},
}

// MariaDB runs mariadbd. It needs no system tables: nobody is asked for a password.
var MariaDB = &Kind{
	Name: "MariaDB", Dialect: "mysql",
	driver: "mysql", pkg: "mariadb-server-core", programs: []string{"mariadbd"},
	folders: []string{"/usr/sbin", "/usr/libexec", "/usr/local/mysql/bin"},
	die:     os.Kill,
	dsn: func(address, database string) string {
		return "root@tcp(" + address + ")/" + database + "?charset=utf8mb4"
	},
	create: func(database string) string { return "CREATE DATABASE " + database + " CHARACTER SET utf8mb4" },
	// Data that a server has made in its first run do not survive a crash of that run: they are made,
	// and closed in order, before.
	prepare: func(folder string) []string {
		return []string{
			"mariadbd", "--no-defaults", "--bootstrap", "--skip-grant-tables", "--datadir=" + filepath.Join(folder, "data"),
		}
	},
	serve: func(folder, port string) []string {
		return []string{
			"mariadbd", "--no-defaults", "--skip-grant-tables", "--skip-name-resolve", "--bind-address=127.0.0.1",
			"--port=" + port, "--datadir=" + filepath.Join(folder, "data"), "--socket=" + filepath.Join(folder, "socket"),
			"--pid-file=" + filepath.Join(folder, "pid"), "--default-time-zone=+00:00", "--innodb-buffer-pool-size=64M",
		}
	},
	unforced: []string{"--innodb-flush-log-at-trx-commit=2"},
}

// find returns where a program is; empty if it is nowhere.
func (k *Kind) find(program string) string {
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	for _, pattern := range k.folders {
		found, _ := filepath.Glob(filepath.Join(pattern, program)) // the patterns are ours and well formed
		if len(found) > 0 {
			return slices.Max(found)
		}
	}
	return ""
}

// missing tells which programs this machine lacks.
func (k *Kind) missing() []string {
	return slices.DeleteFunc(slices.Clone(k.programs), func(program string) bool { return k.find(program) != "" })
}
