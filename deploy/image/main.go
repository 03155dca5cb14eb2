// Command image makes the container image of elasticron, see package oci:
//
//	go -C deploy run ./image -o /tmp/elasticron-image
//
// It writes an OCI image layout and prints the digest. What pushes it to a registry is up to you; docs/deploying.md has
// commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/elasticron/elasticron/deploy/internal/oci"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// run carries out a command line.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	to := flags.String("o", "", "folder of the image to make; must not exist or be empty")
	sources := flags.String("sources", "..", "folder of the main module")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64", "what to build for, with commas between")
	switch err := flags.Parse(args); {
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("argument %q is not allowed: want flags only, see -help", flags.Arg(0))
	case *to == "":
		return errors.New("-o is missing: want the folder of the image to make")
	}
	programs, err := os.MkdirTemp("", "elasticron-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(programs)) }()
	var all []oci.Built
	for text := range strings.SplitSeq(*platforms, ",") {
		platform, err := oci.ParsePlatform(text)
		if err != nil {
			return err
		}
		all = append(all, oci.Built{Platform: platform, Program: filepath.Join(programs, platform.Architecture)})
	}
	if err := oci.CheckFolder(*to); err != nil { // before minutes are spent
		return err
	}
	for _, b := range all {
		if err := oci.Build(ctx, *sources, b.Platform, b.Program); err != nil {
			return err
		}
	}
	index, err := oci.Index(all)
	if err != nil {
		return err
	}
	digest, err := oci.Write(*to, index)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s %s\n", *to, digest)
	return err
}
