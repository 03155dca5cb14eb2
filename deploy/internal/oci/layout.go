package oci

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Built is the program of a platform.
type Built struct {
	Platform v1.Platform
	Program  string // its file
}

// Index returns one image index of what was built.
func Index(all []Built) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range all {
		image, err := Image(b.Program, b.Platform)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &b.Platform}})
	}
	return index, nil
}

// CheckFolder refuses a folder that holds something already: [Write] wants one to make, or an empty one.
func CheckFolder(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("folder %s is not empty: want one to make, or an empty one", folder)
	}
	return nil
}

// Write writes an index into a folder as an OCI image layout, and returns its digest.
func Write(folder string, index v1.ImageIndex) (v1.Hash, error) {
	if err := CheckFolder(folder); err != nil {
		return v1.Hash{}, err
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return v1.Hash{}, fmt.Errorf("write the image into %s: %w", folder, err)
	}
	if err := path.AppendIndex(index); err != nil {
		return v1.Hash{}, fmt.Errorf("write the image into %s: %w", folder, err)
	}
	return index.Digest()
}
