// Program build makes console/web/dist of console/web/src. It is a module of its own, so that nobody who uses
// Elasticron compiles the bundler.
//
//	go -C console/web/build run .          # make web
//	go -C console/web/build run . -check   # fails if dist is not what src says
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// entries are the sources and the names of what is made of them.
var entries = []api.EntryPoint{
	{InputPath: "main.ts", OutputPath: "app"},
	{InputPath: "worker.ts", OutputPath: "stream"},
	{InputPath: "app.css", OutputPath: "app"},
	{InputPath: "icon.svg", OutputPath: "icon"},
}

func main() {
	check := flag.Bool("check", false, "write nothing, and fail if dist is not what src says")
	flag.Parse()
	if err := run("../src", "../dist", *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(src, dist string, check bool) error {
	files, err := build(src)
	if err != nil {
		return err
	}
	if check {
		return compare(files, dist)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dist, name), text, 0o644); err != nil {
			return fmt.Errorf("write a built file: %w", err)
		}
	}
	return nil
}

// build returns the built files by their names.
func build(src string) (map[string][]byte, error) {
	folder, err := filepath.Abs(src)
	if err != nil {
		return nil, fmt.Errorf("find the sources: %w", err)
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: folder, EntryPointsAdvanced: entries, Outdir: "out",
		Bundle: true, Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone,
		// The style is for browsers that know light-dark() and nesting: nothing is put in their place.
		Engines: []api.Engine{{Name: api.EngineChrome, Version: "125"}, {Name: api.EngineFirefox, Version: "125"}, {Name: api.EngineSafari, Version: "18"}},
		Loader:  map[string]api.Loader{".svg": api.LoaderCopy},
	})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("build: %s", strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
	}
	files := make(map[string][]byte)
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	return files, nil
}

// compare fails if the folder has other files, or others in them.
func compare(files map[string][]byte, dist string) error {
	there, err := os.ReadDir(dist)
	if err != nil {
		return fmt.Errorf("read the built files: %w", err)
	}
	for _, file := range there {
		if files[file.Name()] == nil {
			return fmt.Errorf("dist has %s, which nothing in src makes: delete it", file.Name())
		}
	}
	for name, text := range files {
		committed, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil || !bytes.Equal(committed, text) {
			return fmt.Errorf("dist/%s is not what src says: run make web and commit the result", name)
		}
	}
	return nil
}
