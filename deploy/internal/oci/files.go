package oci

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// What is where in the image, and who runs it.
const (
	ProgramPath = "/usr/local/bin/elasticron"
	RootsPath   = "/etc/ssl/certs/ca-certificates.crt" // one of those in which Go looks
	StateFolder = "/var/lib/elasticron"                // the working directory; the user may write there
	UserID      = 65532
)

// file is a file of a layer, or a folder if its name ends with a slash.
type file struct {
	name    string // without the first slash
	mode    int64
	owner   int
	content []byte
}

// base are the files that stay the same while the program changes.
func base() []file {
	return []file{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, content: fmt.Appendf(nil, "root:x:0:\nelasticron:x:%d:\n", UserID)},
		{name: "etc/passwd", mode: 0o644, content: fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nelasticron:x:%d:%d:elasticron:%s:/sbin/nologin\n", UserID, UserID, StateFolder)},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: RootsPath[1:], mode: 0o644, content: roots()},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/local/", mode: 0o755},
		{name: "usr/local/bin/", mode: 0o755},
		{name: "var/", mode: 0o755},
		{name: "var/lib/", mode: 0o755},
		{name: StateFolder[1:] + "/", mode: 0o750, owner: UserID},
	}
}

// roots are the certificates of public authorities as Mozilla has them, in PEM. Those that count only for what they
// signed before some day are left out, as a file cannot say so.
func roots() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return text.Bytes()
}

// archive writes files as they stand in a layer: in the order given, and with no time of this build.
func archive(to io.Writer, files []file) error {
	out := tar.NewWriter(to)
	for _, f := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), Uid: f.owner, Gid: f.owner,
			ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR,
		}
		if f.name[len(f.name)-1] == '/' {
			header.Typeflag = tar.TypeDir
		}
		if err := out.WriteHeader(header); err != nil {
			return fmt.Errorf("layer: %s: %w", f.name, err)
		}
		if _, err := out.Write(f.content); err != nil {
			return fmt.Errorf("layer: %s: %w", f.name, err)
		}
	}
	return out.Close()
}
